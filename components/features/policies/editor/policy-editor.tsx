"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { UseFormReturn } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Form, FormError } from "@/components/ui/form";
import { evaluatePolicies, getPolicies, listPolicyVersions, putPolicy } from "@/lib/api-client/calls.gen";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { RuleChanges } from "../rule-changes";
import { rulesOf, type PolicyValues } from "../policy-form";
import type { PolicySubject } from "../subject";
import type { PolicySetup } from "../use-policy-setup";
import { CodeFields, VoteFields } from "./approval-fields";
import { CapFields } from "./cap-fields";
import { HourFields } from "./hour-fields";
import { ChainFields, RecipientFields } from "./where-fields";

interface PolicyEditorProps {
  readonly form: UseFormReturn<PolicyValues>;
  readonly setup: PolicySetup;
  readonly subject: PolicySubject;
  /** The version that the change starts from; version 0 for none. */
  readonly base: { readonly version: number; readonly rules: PolicyRules };
  readonly isChanged: boolean;
  readonly onEnd: () => void;
}

/** Fields of the form by the path that the API names in its errors. */
const FIELD_OF = {
  "rules.perOperation.usd": "perOperationUsd",
  "rules.perDay.usd": "perDayUsd",
  "rules.newRecipientHours": "newRecipientHours",
  "rules.hours.timeZone": "timeZone",
  "rules.approvals.aboveUsd": "approvalsAboveUsd",
  "rules.approvals.count": "approvalsCount",
  "rules.approvals.roles": "approvalsCount",
} as const;

const UNCHANGED = "The policy was not changed and still applies.";

const useSave = ({ subject, base, onEnd }: PolicyEditorProps) => {
  const api = useApi();
  const queryClient = useQueryClient();
  const { scope, subjectId } = subject;
  return useApprovable<PolicyRules>(`policy ${scope} ${subjectId ?? ""}`, async (rules, approval) => {
    await api.call(putPolicy, {
      body: {
        ...{ scope, baseVersion: base.version, rules },
        ...(subjectId === undefined ? {} : { subjectId }),
        ...(approval === undefined ? {} : { approval }),
      },
    });
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(getPolicies) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPolicyVersions) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(evaluatePolicies) });
    toast.success("The policy was saved. It applies from now on.");
    onEnd();
  });
};

/** Edits every rule of a policy, by sections; saving asks for an approval of exactly these rules. */
export const PolicyEditor = (props: PolicyEditorProps): ReactNode => {
  const { form, setup, base, isChanged, onEnd } = props;
  const change = useSave(props);
  const { control } = form;
  if (change.asked !== null)
    return (
      <Card title="Approve the change">
        <div className="flex flex-col gap-4">
          <RuleChanges
            before={base.rules}
            after={rulesOf(form.getValues())}
            names={setup.names}
            label="What the change does"
          />
          <ApprovalStep asked={change.asked} change={change} />
        </div>
      </Card>
    );
  return (
    <Card title="Limits" description="An empty field is no limit." flush>
      <Form
        form={form}
        error={change.error}
        fieldOf={FIELD_OF}
        aria-label="Limits"
        onSubmit={(values) => change.start(rulesOf(values))}
        className="flex flex-col divide-y [&_button]:scroll-mb-20 [&_input]:scroll-mb-20"
      >
        <CapFields control={control} tokens={setup.tokens} />
        <RecipientFields control={control} />
        <ChainFields control={control} setup={setup} />
        <HourFields control={control} />
        <CodeFields control={control} />
        <VoteFields control={control} />
        <div className="sticky bottom-0 z-1 flex flex-col gap-3 rounded-b-card bg-surface px-4 py-3 max-md:static">
          <FormError money={UNCHANGED} />
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" variant="primary" loading={change.busy} disabled={!isChanged}>
              Save limits
            </Button>
            <Button disabled={change.busy} onClick={onEnd}>
              Cancel
            </Button>
            <span className="text-sm text-fg-3">
              {isChanged ? "Saving asks for your approval." : "Nothing is changed yet."}
            </span>
          </div>
        </div>
      </Form>
    </Card>
  );
};
