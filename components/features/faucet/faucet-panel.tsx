"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { apiQuery } from "@/components/features/session/api-query";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ControlField, Form, FormError, TextField } from "@/components/ui/form";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { Select } from "@/components/ui/select";
import { listTokens, useFaucet } from "@/lib/api-client/calls.gen";
import { AMOUNT_PATTERN } from "@/lib/core/money";
import { readOrTyped } from "@/lib/core/read-amount";
import { useFund } from "./fund";

const faucetForm = z.object({
  token: z.string(),
  chainId: z.string().transform(Number),
  amount: z
    .string()
    .transform((text) => readOrTyped(text))
    .refine(
      (text) => AMOUNT_PATTERN.test(text) && /[1-9]/.test(text),
      "Enter an amount such as 12.50.",
    ),
});

export const FaucetPanel = (): ReactNode => {
  const { chains } = usePublicConfig();
  const treasury = useTreasury();
  const form = useForm({
    resolver: zodResolver(faucetForm),
    mode: "onChange",
    defaultValues: { token: "USDC", chainId: String(chains[0]?.id ?? ""), amount: "1000" },
  });
  const { token, chainId, amount } = form.watch();
  const tokens = useQuery(apiQuery(listTokens, { query: { chainId: Number(chainId) } }));
  const symbols = tokens.data?.data.map((entry) => entry.symbol) ?? [token];
  const fund = useFund();
  const body = {
    address: treasury?.address ?? "<treasury>",
    chainId: Number(chainId),
    token,
    amount,
  };
  return (
    <Card title="Get test tokens" actions={<Badge tone="warning">Development</Badge>}>
      <Form
        form={form}
        error={fund.error}
        onSubmit={(values) => fund.mutate(values)}
        className="flex flex-col gap-3"
      >
        <div className="grid grid-cols-2 gap-3">
          <ControlField control={form.control} name="token" label="Token">
            {(bound) => (
              <Select {...bound} options={symbols.map((symbol) => tokenOption(symbol))} />
            )}
          </ControlField>
          <ControlField control={form.control} name="chainId" label="Chain">
            {(bound) => <Select {...bound} options={chains.map(chainOption)} />}
          </ControlField>
        </div>
        <TextField
          control={form.control}
          name="amount"
          label="Amount"
          input={{ numeric: true }}
        />
        <Button type="submit" loading={fund.isPending} disabled={!fund.ready}>
          Send to the treasury
        </Button>
        <FormError money="The treasury is as it was." />
      </Form>
      <div className="pt-3">
        <ApiSnippet call={useFaucet} body={body} />
      </div>
    </Card>
  );
};
