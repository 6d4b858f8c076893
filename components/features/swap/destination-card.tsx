"use client";

import type { ReactNode } from "react";
import { RecipientField } from "@/components/features/transfer/recipient-field";
import type { Recipient } from "@/components/features/transfer/use-recipient";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { chainOption } from "@/components/ui/marked-options";
import { SlippageField } from "./slippage-field";
import { TokenField } from "./token-field";
import type { SwapForm } from "./use-swap-form";
import type { SwapSetup } from "./use-swap-setup";

interface DestinationCardProps {
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly recipient: Recipient;
  readonly serverErrors: ReadonlyMap<string, string>;
}

const LABEL_START = "first-letter:uppercase inline-block";

const Label = ({ what }: { readonly what: string }): ReactNode => (
  <>
    <span className="sr-only">Destination </span>
    <span className={LABEL_START}>{what}</span>
  </>
);

export const DestinationCard = ({ setup, swap, recipient, serverErrors }: DestinationCardProps): ReactNode => {
  const { values } = swap;
  const { errors } = swap.form.formState;
  return (
    <Card title={recipient.view.as === "own" ? "You receive" : "They receive"}>
      <div className="grid grid-cols-2 gap-3">
        <Field label={<Label what="chain" />} error={errors.toChainId?.message ?? serverErrors.get("toChainId")}>
          <Select
            value={values.toChainId}
            onValueChange={(value) => swap.chooseChain("destination", value)}
            options={setup.chains.map(chainOption)}
            placeholder="Choose …"
          />
        </Field>
        <TokenField
          label={<Label what="token" />}
          setup={setup}
          chainId={values.toChainId}
          value={values.toToken}
          onValueChange={(value) => swap.choose("toToken", value)}
          error={errors.toToken?.message ?? serverErrors.get("toToken")}
        />
        <div className="col-span-2">
          <RecipientField
            recipient={recipient}
            error={errors.toAddress?.message ?? serverErrors.get("toAddress")}
            input={swap.form.register("toAddress")}
            onChoose={(address) => swap.choose("toAddress", address)}
            ownIsUsual
          />
        </div>
      </div>
      <SlippageField swap={swap} error={errors.slippage?.message ?? serverErrors.get("slippageBps")} />
    </Card>
  );
};
