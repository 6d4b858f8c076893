"use client";

import type { ReactNode } from "react";
import { shorten } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { tokenOption } from "@/components/ui/marked-options";
import type { TokenInfo } from "./types";
import { usdValue } from "./decimal";
import { balanceOf, type SwapSetup } from "./use-swap-setup";

interface TokenFieldProps {
  readonly label: ReactNode;
  readonly setup: SwapSetup;
  readonly chainId: string;
  readonly value: string;
  readonly onValueChange: (token: string) => void;
  /** Shows what this wallet holds of each token. */
  readonly wallet?: string;
  readonly error: string | undefined;
}

const optionOf = (token: TokenInfo, balance: string | null): ComboboxOption => ({
  ...tokenOption(token.symbol, token.address),
  description: token.address === "native" ? `${token.name}, native` : `${token.name}, ${shorten(token.address)}`,
  keywords: [token.symbol, token.name],
  ...(balance === null
    ? {}
    : { aside: <Amount value={balance} symbol={token.symbol} plain className="text-sm text-fg-2" /> }),
});

interface Held {
  readonly token: TokenInfo;
  readonly balance: string | null;
}

/** A number to sort by, for which floats are precise enough. Tokens without a price come after those with one. */
const worth = ({ token, balance }: Held): number =>
  balance === null ? 0 : Number(usdValue(balance, token.priceUsd) ?? Number(balance) / Number.MAX_SAFE_INTEGER);

/** The highest worth first; tokens of equal worth in the order of the configuration. */
const byWorth = (one: Held, other: Held): number => worth(other) - worth(one);

export const TokenField = (props: TokenFieldProps): ReactNode => {
  const { setup, chainId, wallet } = props;
  const options = setup.tokens
    .filter((token) => String(token.chainId) === chainId)
    .map((token) => ({
      token,
      balance:
        wallet === undefined ? null : balanceOf(setup.balances, { address: wallet, chainId, token: token.address }),
    }))
    .sort(byWorth)
    .map(({ token, balance }) => optionOf(token, balance));
  return (
    <Field label={props.label} error={props.error}>
      <Combobox
        options={options}
        value={props.value}
        onValueChange={props.onValueChange}
        placeholder="Choose a token"
        searchPlaceholder="Symbol, name or address"
        emptyText="No such token on this chain."
        disabled={chainId === ""}
      />
    </Field>
  );
};
