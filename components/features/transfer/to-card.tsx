"use client";

import type { ReactNode } from "react";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { chainOption } from "@/components/ui/marked-options";
import { assetsOf } from "./form-model";
import type { PartProps } from "./from-card";
import { RecipientField } from "./recipient-field";
import type { Recipient } from "./use-recipient";

interface ToCardProps extends PartProps {
  readonly recipient: Recipient;
}

/** On which chain, and to whom. */
export const ToCard = ({ setup, transfer, serverErrors, recipient }: ToCardProps): ReactNode => {
  const { values } = transfer;
  const { errors } = transfer.form.formState;
  const asset = assetsOf(setup.tokens).find((one) => one.assetId === values.assetId);
  return (
    <Card title="They receive">
      <div className="flex flex-col gap-3">
        <Field label="To chain" error={errors.toChainId?.message ?? serverErrors.toChainId}>
          <Select
            value={values.toChainId}
            onValueChange={(chainId) => transfer.choose("toChainId", chainId)}
            options={setup.chains.map((chain) => {
              const there = asset === undefined || asset.chainIds.includes(String(chain.id));
              return {
                ...chainOption(chain),
                label: there ? chain.name : `${chain.name} (no ${asset.symbol} there)`,
                disabled: !there,
              };
            })}
            placeholder="Choose …"
          />
        </Field>
        <RecipientField
          recipient={recipient}
          error={errors.toAddress?.message ?? serverErrors.toAddress}
          input={transfer.form.register("toAddress")}
          onChoose={(address) => transfer.choose("toAddress", address)}
        />
      </div>
    </Card>
  );
};
