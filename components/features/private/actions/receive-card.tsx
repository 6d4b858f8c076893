"use client";

import type { ReactNode } from "react";
import { useChainName } from "@/components/features/operations/use-chain-name";
import { Combobox } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
import { Card } from "@/components/ui/card";
import { tokenOption } from "@/components/ui/marked-options";
import { countText } from "@/lib/core/amount-text";
import { poolKey } from "../types";
import type { PartProps } from "./pay-card";

/** Into which pool of the same chain, and how far the rate may move. */
export const ReceiveCard = ({ form }: PartProps): ReactNode => {
  const chainName = useChainName();
  const others = form.pools.filter((pool) => pool !== form.pool && pool.chainId === form.pool?.chainId);
  return (
    <Card title="You receive" description="As a new note of the same wallet.">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Token to receive" error={form.errors.toPool}>
          <Combobox
            value={form.values.toPool}
            onValueChange={(pool) => form.set("toPool", pool)}
            options={others.map((pool) => ({
              ...tokenOption(pool.token.symbol, poolKey(pool)),
              label: `${pool.token.symbol} on ${chainName(pool.chainId)}`,
              description: `Set of ${countText(pool.anonymitySet)}`,
              keywords: [pool.token.symbol],
            }))}
            placeholder="Choose a token"
            searchPlaceholder="Symbol"
            emptyText="There is no other pool on this chain."
          />
        </Field>
        <Field label="Slippage, %" error={form.errors.slippage} hint="Enforced on chain, as a part of the proof.">
          <Input
            numeric
            value={form.values.slippage}
            onChange={(event) => form.set("slippage", event.target.value)}
            onBlur={() => form.check("slippage")}
          />
        </Field>
      </div>
    </Card>
  );
};
