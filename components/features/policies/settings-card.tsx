"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { RuleList } from "./rule-list";
import { usePolicies, type Policies } from "./use-policies";
import { usePolicyNames } from "./use-policy-setup";

/** The limits of the whole project, on the page of settings, and the way to all policies. */
export const PoliciesCard = (): ReactNode => {
  const { data, error, isPending, refetch } = usePolicies();
  return (
    <Card
      id="policies"
      title="Policies"
      description="Limits of the project, of wallets and of API keys on money that leaves."
      actions={
        <Link href="/settings/policies" className={buttonLooks({ size: "sm" })}>
          Open policies
        </Link>
      }
    >
      {isPending ? (
        <LoadingRows what="the policies" rows={1} />
      ) : data === undefined ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : (
        <Summary policies={data} />
      )}
    </Card>
  );
};

const countText = (count: number, one: string): string => `${String(count)} ${one}${count === 1 ? "" : "s"}`;

const Summary = ({ policies: { policies } }: { readonly policies: Policies }): ReactNode => {
  const names = usePolicyNames();
  const project = policies.find(({ scope }) => scope === "project");
  const countOf = (of: "wallet" | "key"): number => policies.filter(({ scope }) => scope === of).length;
  return (
    <div className="flex flex-col gap-2">
      {project === undefined ? (
        <p>The project as a whole has no limit.</p>
      ) : (
        <RuleList rules={project.rules} names={names} label="Limits of the whole project" />
      )}
      <p className="text-sm text-fg-2">
        {countOf("wallet") + countOf("key") === 0
          ? "No wallet and no API key has limits of its own."
          : `${countText(countOf("wallet"), "wallet")} and ${countText(countOf("key"), "API key")} with limits of their own.`}
      </p>
    </div>
  );
};
