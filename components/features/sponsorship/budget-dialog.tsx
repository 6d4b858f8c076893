"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { useChain } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { getMe } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { updateSponsorBudget } from "@/lib/contracts/sponsor-budgets";

export type SponsorBudget = ResponseOf<typeof updateSponsorBudget>;

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

const own = (limit: string, ceiling: string): string => (limit === ceiling ? "" : typedAmount(limit));
const given = (text: string): string | null => (text === "" ? null : text);

/** Sets the project's own limits on one chain; a higher limit asks for an approval. */
export const BudgetDialog = ({ budget, onClose }: BudgetDialogProps): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const { chainId, symbol, dailyCeiling, perOperationCeiling } = budget;
  const chainName = useChain(chainId)?.name ?? `chain ${String(chainId)}`;
  const form = useForm({
    resolver: zodResolver(budgetForm),
    defaultValues: {
      dailyLimit: own(budget.dailyLimit, dailyCeiling),
      perOperation: own(budget.perOperation, perOperationCeiling),
    },
  });
  const change = useApprovable<BudgetValues>(`sponsor_budget ${String(chainId)}`, async (values, approval) => {
    await api.call(updateSponsorBudget, {
      body: {
        ...{ chainId, dailyLimit: given(values.dailyLimit), perOperation: given(values.perOperation) },
        ...(approval ? { approval } : {}),
      },
    });
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(getMe) });
    toast.success("The sponsor budget was changed.");
    onClose();
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={`Sponsor budget on ${chainName}`}
      description="Lowering a limit counts at once. Raising one needs your approval."
    >
      {change.asked !== null ? (
        <ApprovalStep asked={change.asked} change={change} />
      ) : (
        <Form form={form} error={change.error} onSubmit={change.start} className="flex flex-col gap-3">
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
          <FormError money="The budget is as it was." />
          <div className="flex gap-2">
            <Button type="submit" variant="primary" loading={change.busy}>
              Save
            </Button>
            <Button disabled={change.busy} onClick={onClose}>
              Cancel
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
};
