"use client";

import { HandCoins, Plus } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useCallback, useMemo, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PagedSheet } from "@/components/features/session/paged-sheet";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { EmptyState } from "@/components/ui/empty-state";
import { Field } from "@/components/ui/field";
import { Kbd } from "@/components/ui/kbd";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { Table } from "@/components/ui/table";
import { useListKeys } from "@/components/ui/use-list-keys";
import { pathOf } from "@/lib/api-client/client";
import { listPayouts } from "@/lib/contracts/payouts";
import { STATUSES } from "@/lib/core/status";
import type { Payout } from "./payout";
import { PAYOUT_COLUMNS } from "./payout-columns";
import { usePayoutList } from "./use-payouts";

const ALL = "all";
/** Payouts between accounts are final at once: nothing of them comes back. */
const LISTED = STATUSES.filter((status) => status !== "refunded");

export const Payouts = (): ReactNode => {
  const [status, setStatus] = useQueryState("status", parseAsStringLiteral(LISTED).withOptions({ history: "replace" }));
  const list = usePayoutList(status);
  return (
    <>
      <PageHeader
        title="Payouts"
        description={
          <>
            Many payments at once, newest first.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens.
            </span>
          </>
        }
        actions={<PayLink />}
      />
      <div className="flex flex-col gap-4">
        <Field label="Status" className="w-48">
          <Select
            value={status ?? ALL}
            onValueChange={(next) => void setStatus(LISTED.find((one) => one === next) ?? null)}
            options={[
              { value: ALL, label: "All states" },
              ...LISTED.map((value) => ({ value, label: STATUS_VIEWS[value].word })),
            ]}
          />
        </Field>
        <PagedSheet
          list={list}
          what="payouts"
          money="Payouts that run go on without this page."
          empty={
            status === null ? (
              <EmptyState icon={HandCoins} title="No payouts yet" action={<PayLink />}>
                Pay many global accounts from one: salaries, refunds, revenue shares. Type the rows or bring a CSV;
                every row is checked before anything is paid, and a one-time code approves it.
              </EmptyState>
            ) : (
              <EmptyState
                icon={HandCoins}
                title="No payout is in this state"
                action={<Button onClick={() => void setStatus(null)}>Show all payouts</Button>}
              />
            )
          }
        >
          {(payouts) => <PayoutTable payouts={payouts} />}
        </PagedSheet>
        <ApiSnippet method="GET" path={pathOf(listPayouts, { query: { status } })} />
      </div>
    </>
  );
};

const PayLink = (): ReactNode => (
  <Link href="/payouts/new" className={buttonLooks({ variant: "primary" })}>
    <Plus aria-hidden /> Pay accounts
  </Link>
);

const PayoutTable = ({ payouts }: { readonly payouts: readonly Payout[] }): ReactNode => {
  const router = useRouter();
  const ids = payouts.map(({ payoutId }) => payoutId).join(" ");
  const keys = useMemo(() => ids.split(" "), [ids]);
  const onOpen = useCallback((id: string) => router.push(`/payouts/${id}`), [router]);
  const active = useListKeys({ keys, onOpen });
  return (
    <Table
      caption="Payouts"
      columns={PAYOUT_COLUMNS}
      rows={payouts}
      rowKey={({ payoutId }) => payoutId}
      activeKey={active}
    />
  );
};
