"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Ban } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ChangeForm } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useCache } from "@/components/features/session/use-api";
import { useChain } from "@/components/providers/public-config";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { EmptyState } from "@/components/ui/states";
import { TextField } from "@/components/ui/form";
import { type Column, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { getMe } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { updateSponsorBudget } from "@/lib/contracts/sponsor-budgets";
import { readOrTyped, typedAmount } from "@/lib/core/read-amount";

const amountColumn = (
  id: string,
  header: string,
  value: (budget: SponsorBudget) => string,
): Column<SponsorBudget> => ({
  id,
  header,
  align: "right",
  cell: (budget) => <Amount value={value(budget)} unit={budget.symbol} />,
});

const COLUMNS: readonly Column<SponsorBudget>[] = [
  {
    id: "chain",
    header: "Chain",
    phone: "title",
    cell: ({ chainId }) => <ChainName chainId={chainId} />,
  },
  amountColumn("used", "Used today", ({ used }) => used),
  {
    ...amountColumn("reserved", "Reserved", ({ reserved }) => reserved),
    phone: "hidden",
    priority: "low",
  },
  {
    id: "remaining",
    header: "Left today",
    align: "right",
    phone: "aside",
    cell: ({ remaining, symbol }) =>
      /[1-9]/.test(remaining) ? (
        <Amount value={remaining} unit={symbol} className="font-medium" />
      ) : (
        <Badge
          tone="warning"
          icon={Ban}
          title="Operations that the sponsor would pay for are refused until the reset."
        >
          Used up
        </Badge>
      ),
  },
  {
    ...amountColumn("limit", "Daily limit", ({ dailyLimit }) => dailyLimit),
    priority: "medium",
  },
  {
    ...amountColumn("operation", "Per operation", ({ perOperation }) => perOperation),
    phone: "hidden",
    priority: "low",
  },
];

const changeColumn = (onChange: (chainId: number) => void): Column<SponsorBudget> => ({
  id: "actions",
  header: "",
  align: "right",
  cell: ({ chainId }) => <ChangeButton chainId={chainId} onChange={onChange} />,
});

const ChangeButton = ({
  chainId,
  onChange,
}: {
  readonly chainId: number;
  readonly onChange: (chainId: number) => void;
}): ReactNode => {
  const name = useChain(chainId)?.name ?? `chain ${String(chainId)}`;
  return (
    <Button
      size="sm"
      aria-label={`Change the sponsor budget on ${name}`}
      onClick={() => onChange(chainId)}
    >
      Change
    </Button>
  );
};

export const SponsorBudgetsCard = ({
  budgets,
}: {
  readonly budgets: readonly SponsorBudget[];
}): ReactNode => {
  const mayChange = useMay("policies:manage");
  const [changing, setChanging] = useState<number | null>(null);
  useReopen("sponsor_budget ", (id) => setChanging(Number(id)));
  const columns = useMemo(
    () => (mayChange ? [...COLUMNS, changeColumn(setChanging)] : COLUMNS),
    [mayChange],
  );
  const changed = budgets.find(({ chainId }) => chainId === changing);
  const [first] = budgets;
  return (
    <Card
      id="sponsor-budgets"
      title="Sponsor budgets"
      description="Network fees that the project's sponsor pays. Owners and admins set the limits, up to what this installation allows."
      actions={
        first === undefined ? null : (
          <span className="text-sm text-fg-2">
            Resets at 00:00 UTC, <Time value={first.resetsAt} />
          </span>
        )
      }
      flush
    >
      {first === undefined ? (
        <EmptyState title="No sponsor">
          Wallets pay their network fees themselves on every chain.
        </EmptyState>
      ) : (
        <Table
          caption="Sponsor budgets by chain"
          columns={columns}
          rows={budgets}
          rowKey={({ chainId }) => String(chainId)}
        />
      )}
      {changed === undefined ? null : (
        <BudgetDialog budget={changed} onClose={() => setChanging(null)} />
      )}
    </Card>
  );
};

type SponsorBudget = ResponseOf<typeof updateSponsorBudget>;

const amount = z
  .string()
  .transform((text) => readOrTyped(text))
  .refine(
    (text) => text === "" || updateSponsorBudget.body.shape.dailyLimit.safeParse(text).success,
    "Enter an amount such as 0.5, or leave it empty for the highest limit.",
  );
const budgetForm = z.object({ dailyLimit: amount, perOperation: amount });
type BudgetValues = z.infer<typeof budgetForm>;

interface BudgetDialogProps {
  readonly budget: SponsorBudget;
  readonly onClose: () => void;
}

/** A limit in the form: empty when it equals the ceiling. */
const typedLimit = (limit: string, ceiling: string): string =>
  limit === ceiling ? "" : typedAmount(limit);
const limitOf = (text: string): string | null => (text === "" ? null : text);

/** Sets the project's own limits on one chain; a higher limit asks for an approval. */
const BudgetDialog = ({ budget, onClose }: BudgetDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const { chainId, symbol, dailyCeiling, perOperationCeiling } = budget;
  const chainName = useChain(chainId)?.name ?? `chain ${String(chainId)}`;
  const form = useForm({
    resolver: zodResolver(budgetForm),
    defaultValues: {
      dailyLimit: typedLimit(budget.dailyLimit, dailyCeiling),
      perOperation: typedLimit(budget.perOperation, perOperationCeiling),
    },
  });
  const change = useApprovable<BudgetValues>(
    `sponsor_budget ${String(chainId)}`,
    async (values, proof) => {
      await api.call(updateSponsorBudget, {
        body: {
          chainId,
          dailyLimit: limitOf(values.dailyLimit),
          perOperation: limitOf(values.perOperation),
          ...proof,
        },
      });
      await cache.refresh(getMe);
      toast.success("The sponsor budget was changed.");
      onClose();
    },
  );
  return (
    <ChangeForm
      change={change}
      onClose={onClose}
      title={`Sponsor budget on ${chainName}`}
      description="Lowering a limit counts at once. Raising one needs your approval."
      form={form}
      onSubmit={change.start}
      money="The budget is as it was."
      act="Save"
    >
      <TextField
        control={form.control}
        name="dailyLimit"
        label={`Daily limit (${symbol})`}
        hint={`Empty: ${dailyCeiling} ${symbol}, the most that this installation allows.`}
        input={{ numeric: true, autoFocus: true, placeholder: dailyCeiling }}
      />
      <TextField
        control={form.control}
        name="perOperation"
        label={`Per operation (${symbol})`}
        hint={`Empty: ${perOperationCeiling} ${symbol}, the most that this installation allows.`}
        input={{ numeric: true, placeholder: perOperationCeiling }}
      />
    </ChangeForm>
  );
};
