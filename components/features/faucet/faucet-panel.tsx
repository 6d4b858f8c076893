"use client";

import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useApiQuery } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { listTokens } from "@/lib/contracts/chains";
import { AMOUNT_PATTERN } from "@/lib/core/money";
import { useFund } from "./use-fund";

/** "Get test tokens": token, chain and amount, to the treasury. */
export const FaucetPanel = (): ReactNode => {
  const { chains } = usePublicConfig();
  const treasury = useTreasury();
  const [chain, setChain] = useState(String(chains[0]?.id ?? ""));
  const [token, setToken] = useState("USDC");
  const [amount, setAmount] = useState("1000");
  const tokens = useApiQuery(listTokens, { query: { chainId: Number(chain) } });
  const symbols = tokens.data?.data.map((entry) => entry.symbol) ?? [token];
  const fund = useFund();
  const valid = AMOUNT_PATTERN.test(amount) && /[1-9]/.test(amount);
  const body = { address: treasury?.address ?? "<treasury>", chainId: Number(chain), token, amount };
  return (
    <Card title="Get test tokens" actions={<Badge tone="warning">Development</Badge>}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) fund.mutate({ chainId: Number(chain), token, amount });
        }}
      >
        <div className="grid grid-cols-2 gap-3">
          <Field label="Token">
            <Select
              value={token}
              onValueChange={setToken}
              options={symbols.map((symbol) => ({ value: symbol, label: symbol }))}
            />
          </Field>
          <Field label="Chain">
            <Select
              value={chain}
              onValueChange={setChain}
              options={chains.map((entry) => ({ value: String(entry.id), label: entry.name }))}
            />
          </Field>
        </div>
        <Field label="Amount" {...(valid ? {} : { error: 'Type an amount such as "12.5".' })}>
          <Input numeric value={amount} onChange={(event) => setAmount(event.target.value.trim())} />
        </Field>
        <Button type="submit" loading={fund.isPending} disabled={!valid || !fund.ready}>
          Send to the treasury
        </Button>
        {fund.isError ? <ErrorState compact error={fund.error} money="The treasury is as it was." /> : null}
      </form>
      <div className="pt-3">
        <ApiSnippet method="POST" path="/dev/faucet" body={body} />
      </div>
    </Card>
  );
};
