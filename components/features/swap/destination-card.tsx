"use client";

import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { address as addressSchema } from "@/lib/contracts/common";
import { findLookAlike } from "@/lib/core/look-alike";
import { SlippageField } from "./slippage-field";
import { TokenField } from "./token-field";
import type { SwapForm } from "./use-swap-form";
import type { SwapSetup } from "./use-swap-setup";

interface DestinationCardProps {
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ReadonlyMap<string, string>;
}

const LABEL_START = "first-letter:uppercase inline-block";

const Label = ({ what }: { readonly what: string }): ReactNode => (
  <>
    <span className="sr-only">Destination </span>
    <span className={LABEL_START}>{what}</span>
  </>
);

export const DestinationCard = ({ setup, swap, serverErrors }: DestinationCardProps): ReactNode => {
  const { values } = swap;
  const { errors } = swap.form.formState;
  return (
    <Card title="They receive">
      <div className="grid grid-cols-2 gap-3">
        <Field label={<Label what="chain" />} error={errors.toChainId?.message ?? serverErrors.get("toChainId")}>
          <Select
            value={values.toChainId}
            onValueChange={(value) => swap.chooseChain("destination", value)}
            options={setup.chains.map((chain) => ({ value: String(chain.id), label: chain.name }))}
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
            setup={setup}
            swap={swap}
            error={errors.toAddress?.message ?? serverErrors.get("toAddress")}
          />
        </div>
      </div>
      <SlippageField swap={swap} error={errors.slippage?.message ?? serverErrors.get("slippageBps")} />
    </Card>
  );
};

interface RecipientFieldProps extends Pick<DestinationCardProps, "setup" | "swap"> {
  readonly error: string | undefined;
}

const same = (a: string, b: string | undefined): boolean => a.toLowerCase() === b?.toLowerCase();

const RecipientField = ({ setup, swap, error }: RecipientFieldProps): ReactNode => {
  const typed = swap.values.toAddress.trim();
  const known = setup.wallets.find((wallet) => same(typed, wallet.address));
  const lookAlike = findLookAlike(
    typed,
    setup.wallets.map((wallet) => wallet.address),
  );
  const { treasury } = setup;
  const checksummed = addressSchema.safeParse(typed);
  const foreign = known === undefined && checksummed.success;
  return (
    <div className="flex flex-col gap-2">
      <Field
        label="Recipient"
        error={error}
        hint={
          known === undefined ? (
            foreign ? (
              <>
                Not a wallet of this project. Compare it whole:{" "}
                <code className="font-mono break-all text-fg">{checksummed.data}</code>
              </>
            ) : (
              "A 0x address."
            )
          ) : known.kind === "treasury" ? (
            "Your own treasury."
          ) : (
            "A wallet of this project."
          )
        }
        aside={
          treasury === undefined || same(typed, treasury.address) ? undefined : (
            <Button
              variant="link"
              size="sm"
              className="h-auto"
              onClick={() => swap.choose("toAddress", treasury.address)}
            >
              Use the treasury
            </Button>
          )
        }
      >
        <Input mono className="text-sm" placeholder="0x…" {...swap.form.register("toAddress")} />
      </Field>
      {lookAlike === null ? null : (
        <Alert tone="danger" title="This address looks like one of your wallets, but it is not.">
          Yours is <code className="font-mono text-sm break-all">{lookAlike}</code>. Such addresses are made to be
          mistaken for it. Money sent there does not come back.
        </Alert>
      )}
    </div>
  );
};
