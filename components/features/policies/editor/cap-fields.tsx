"use client";

import { Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useFieldArray, type Control } from "react-hook-form";
import type { TokenInfo } from "@/components/features/swap/types";
import { Button, IconButton } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { ControlField, TextField } from "@/components/ui/form";
import { tokenOption } from "@/components/ui/marked-options";
import type { PolicyValues } from "../policy-form";
import { Section } from "./section";

interface CapFieldsProps {
  readonly control: Control<PolicyValues>;
  readonly tokens: readonly TokenInfo[];
}

const NO_LIMIT = { numeric: true, placeholder: "No limit" } as const;

/** The most that one operation, and that one day, may move: in US dollars, and of single assets. */
export const CapFields = ({ control, tokens }: CapFieldsProps): ReactNode => (
  <Section
    title="Amounts"
    hint="A day is a UTC day. An amount whose worth is not known counts as above every US dollar limit."
  >
    <div className="grid grid-cols-1 gap-x-6 gap-y-3 sm:grid-cols-2">
      <div className="flex flex-col gap-3">
        <TextField control={control} name="perOperationUsd" label="Most in one operation (USD)" input={NO_LIMIT} />
        <AssetCaps control={control} tokens={tokens} name="perOperationAssets" of="in one operation" />
      </div>
      <div className="flex flex-col gap-3">
        <TextField control={control} name="perDayUsd" label="Most in a day (USD)" input={NO_LIMIT} />
        <AssetCaps control={control} tokens={tokens} name="perDayAssets" of="in a day" />
      </div>
    </div>
  </Section>
);

interface AssetCapsProps extends CapFieldsProps {
  readonly name: "perOperationAssets" | "perDayAssets";
  readonly of: string;
}

const AssetCaps = ({ control, tokens, name, of }: AssetCapsProps): ReactNode => {
  const { fields, append, remove } = useFieldArray({ control, name });
  const assets = [...new Map(tokens.map((token) => [token.assetId, token])).values()];
  return (
    <>
      {fields.map((field, index) => (
        <div key={field.id} className="flex items-start gap-2">
          <ControlField
            control={control}
            name={`${name}.${index}.asset`}
            label={`Asset ${String(index + 1)} ${of}`}
            labelHidden
            className="min-w-0 flex-1"
          >
            {({ value, onValueChange }) => (
              <Combobox
                options={assets.map(({ assetId, symbol, name: title }) => ({
                  ...tokenOption(symbol, assetId),
                  description: title,
                  keywords: [symbol, title],
                }))}
                value={value}
                onValueChange={onValueChange}
                placeholder="Asset"
                searchPlaceholder="Symbol or name"
              />
            )}
          </ControlField>
          <TextField
            control={control}
            name={`${name}.${index}.amount`}
            label={`Most of asset ${String(index + 1)} ${of}`}
            labelHidden
            className="min-w-0 flex-1"
            input={{ numeric: true, placeholder: "0.0" }}
          />
          <IconButton label={`Remove asset ${String(index + 1)} ${of}`} size="md" onClick={() => remove(index)}>
            <Trash2 aria-hidden />
          </IconButton>
        </div>
      ))}
      <div>
        <Button size="sm" variant="ghost" onClick={() => append({ asset: "", amount: "" })}>
          <Plus aria-hidden /> Limit one asset <span className="sr-only">{of}</span>
        </Button>
      </div>
    </>
  );
};
