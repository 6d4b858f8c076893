"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Usd } from "@/components/ui/amount";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Form, FormError, TextField } from "@/components/ui/form";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { getPolicies } from "@/lib/api-client/calls.gen";
import { updatePolicies } from "@/lib/contracts/policies";
import { readAmount, readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { usePolicies, type Policies } from "./use-policies";

/** The contract's amount, with an example where it refuses the text. */
const capForm = z.object({
  dailyCapUsd: z
    .string()
    .transform((text) => readOrTyped(text))
    .refine((text) => updatePolicies.body.shape.dailyCapUsd.safeParse(text).success, "Enter an amount such as 2,500."),
});

/** The amount that all API keys of the project together may move in a day without a code. */
export const LimitCard = (): ReactNode => {
  const { data, error, isPending, refetch } = usePolicies();
  return (
    <Card
      id="limits"
      title="Daily cap of API keys"
      description="API keys that are exempt from codes together move at most this much in a UTC day. Above it, they need a code."
    >
      {isPending ? (
        <LoadingRows what="the daily cap" rows={1} />
      ) : data === undefined ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : (
        <Limit policies={data} />
      )}
    </Card>
  );
};

const Limit = ({ policies }: { readonly policies: Policies }): ReactNode => {
  const [editing, setEditing] = useState(false);
  if (editing) return <LimitForm policies={policies} onEnd={() => setEditing(false)} />;
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>
        <Usd value={policies.dailyCapUsd} /> a day
        <span className="text-fg-2">
          , of which <Usd value={policies.spentTodayUsd} /> moved today
        </span>
      </span>
      <Button size="sm" aria-label="Change the daily cap" onClick={() => setEditing(true)}>
        Change
      </Button>
    </div>
  );
};

const LimitForm = ({ policies, onEnd }: { readonly policies: Policies; readonly onEnd: () => void }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const form = useForm({
    resolver: zodResolver(capForm),
    defaultValues: { dailyCapUsd: typedAmount(policies.dailyCapUsd) },
  });
  const typed = form.watch("dailyCapUsd");
  const change = useApprovable<string>("daily_cap", async (dailyCapUsd, approval) => {
    const changed = await api.call(updatePolicies, { body: { dailyCapUsd, ...(approval ? { approval } : {}) } });
    queryClient.setQueryData(queryKeyOf(getPolicies, {}), changed);
    toast.success("The daily cap was changed.");
    onEnd();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <Form
      form={form}
      error={change.error}
      onSubmit={({ dailyCapUsd }) => change.start(dailyCapUsd)}
      className="flex flex-col gap-3"
    >
      <TextField
        control={form.control}
        name="dailyCapUsd"
        label="Daily cap (US dollars)"
        hint={
          <>
            Lowering it counts at once; raising it needs your approval.{" "}
            <ReadAs value={typed} read={readAmount(typed)} symbol="USD" />
          </>
        }
        className="max-w-72"
        input={{ numeric: true, autoFocus: true }}
      />
      <FormError money="The cap is as it was." />
      <div className="flex gap-2">
        <Button type="submit" variant="primary" loading={change.busy}>
          Save
        </Button>
        <Button disabled={change.busy} onClick={onEnd}>
          Cancel
        </Button>
      </div>
    </Form>
  );
};
