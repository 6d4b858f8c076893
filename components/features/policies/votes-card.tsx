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
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { LoadingRows } from "@/components/ui/skeleton";
import { getPolicies, updatePolicies } from "@/lib/api-client/calls.gen";
import { usePolicies, type Policies } from "./use-policies";

type Requirement = Policies["approvals"];
type ApproverRole = NonNullable<Requirement>["roles"][number];

const ROLES = ["owner", "admin", "operator"] as const satisfies readonly ApproverRole[];
const COUNT_MAX = 20;

/** How many people must approve what awaits approval, and who may. */
export const VotesCard = (): ReactNode => {
  const { data, error, isPending, refetch } = usePolicies();
  return (
    <Card
      id="votes"
      title="Approval by several people"
      description="Payments, transfers and swaps out of managed wallets wait until this many other people have approved them."
    >
      {isPending ? (
        <LoadingRows what="the setting" rows={1} />
      ) : data === undefined ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : (
        <Setting required={data.approvals} />
      )}
    </Card>
  );
};

const Setting = ({ required }: { readonly required: Requirement }): ReactNode => {
  const [editing, setEditing] = useState(false);
  if (editing) return <SettingForm required={required} onEnd={() => setEditing(false)} />;
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>
        {required === null
          ? "Off: the code of one person approves."
          : `${String(required.count)} of: ${required.roles.join(", ")}${required.excludeMaker ? ", without the person who asked" : ""}.`}
      </span>
      <Button size="sm" aria-label="Change approval by several people" onClick={() => setEditing(true)}>
        Change
      </Button>
    </div>
  );
};

const form = z
  .object({
    count: z
      .string()
      .trim()
      .refine((text) => /^\d{1,2}$/.test(text) && Number(text) <= COUNT_MAX, "Enter a number from 0 to 20."),
    owner: z.boolean(),
    admin: z.boolean(),
    operator: z.boolean(),
    excludeMaker: z.boolean(),
  })
  .refine((values) => Number(values.count) === 0 || ROLES.some((role) => values[role]), {
    message: "Choose who may approve.",
    path: ["count"],
  });

type Values = z.infer<typeof form>;

const requirementOf = (values: Values): Requirement =>
  Number(values.count) === 0
    ? null
    : {
        count: Number(values.count),
        roles: ROLES.filter((role) => values[role]),
        excludeMaker: values.excludeMaker,
      };

const valuesOf = (required: Requirement): Values => {
  const has = (role: ApproverRole): boolean => required === null || required.roles.includes(role);
  return {
    count: String(required?.count ?? 0),
    owner: has("owner"),
    admin: has("admin"),
    operator: required?.roles.includes("operator") ?? false,
    excludeMaker: required?.excludeMaker ?? true,
  };
};

const SettingForm = ({
  required,
  onEnd,
}: {
  readonly required: Requirement;
  readonly onEnd: () => void;
}): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const values = useForm({ resolver: zodResolver(form), defaultValues: valuesOf(required) });
  const change = useApprovable<Requirement>("votes", async (approvals, approval) => {
    const changed = await api.call(updatePolicies, { body: { approvals, ...(approval ? { approval } : {}) } });
    queryClient.setQueryData(queryKeyOf(getPolicies, {}), changed);
    toast.success("The setting was changed.");
    onEnd();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <Form
      form={values}
      error={change.error}
      fieldOf={{ "approvals.count": "count" }}
      onSubmit={(sent) => change.start(requirementOf(sent))}
      className="flex flex-col gap-3"
    >
      <TextField
        control={values.control}
        name="count"
        label="People who must approve"
        hint="0 turns it off. More counts at once; fewer needs your approval."
        className="max-w-72"
        input={{ numeric: true, autoFocus: true }}
      />
      <fieldset className="flex flex-wrap gap-x-6 gap-y-1">
        <legend className="pb-1 text-sm font-medium text-fg-2">Who may approve</legend>
        <Checkbox label="Owners" {...values.register("owner")} />
        <Checkbox label="Admins" {...values.register("admin")} />
        <Checkbox label="Operators" {...values.register("operator")} />
      </fieldset>
      <Checkbox label="Not the person who asked" {...values.register("excludeMaker")} />
      <FormError money="The setting is as it was." />
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
