"use client";

import type { ReactNode } from "react";
import { shorten } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { tokenOption } from "@/components/ui/marked-options";
import type { TokenInfo } from "./types";
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

export const TokenField = (props: TokenFieldProps): ReactNode => {
  const { setup, chainId, wallet } = props;
  const options = setup.tokens
    .filter((token) => String(token.chainId) === chainId)
    .map((token) =>
      optionOf(
        token,
        wallet === undefined ? null : balanceOf(setup.balances, { address: wallet, chainId, token: token.address }),
      ),
    );
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
