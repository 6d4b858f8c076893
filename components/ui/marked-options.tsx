import type { SelectOption } from "./select";
import { ChainMark, TokenMark } from "./marks";

/** Chains and tokens in a list to choose from, each with its mark. */
type MarkedOption = SelectOption & { readonly mark: NonNullable<SelectOption["mark"]> };

export const chainOption = ({ id, name }: { readonly id: number; readonly name: string }): MarkedOption => ({
  value: String(id),
  label: name,
  mark: <ChainMark name={name} />,
});

/** @param value default: the symbol itself */
export const tokenOption = (symbol: string, value = symbol): MarkedOption => ({
  value,
  label: symbol,
  mark: <TokenMark symbol={symbol} />,
});
