"use client";

import { CalendarClock, HandCoins, Plus } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useCallback, useMemo, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PagedCard } from "@/components/features/session/paged-card";
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
import { PAYOUT_KINDS } from "@/lib/contracts/payout-records";
import { listPayouts } from "@/lib/api-client/calls.gen";
import { STATUSES } from "@/lib/core/status";
import type { Payout } from "./payout";
import { PAYOUT_COLUMNS } from "./payout-columns";
import { usePayoutList } from "./use-payouts";

const ALL = "all";
/** Statuses of the filter. A payout is never `refunded`, because a payment that was made cannot be taken back. */
const LISTED = STATUSES.filter((status) => status !== "refunded");

const useFilters = () => {
  const [status, setStatus] = useQueryState("status", parseAsStringLiteral(LISTED).withOptions({ history: "replace" }));
  const [kind, setKind] = useQueryState("kind", parseAsStringLiteral(PAYOUT_KINDS).withOptions({ history: "replace" }));
  return { status, setStatus, kind, setKind };
};
type Filters = ReturnType<typeof useFilters>;

export const Payouts = (): ReactNode => {
  const filters = useFilters();
  const { status, kind } = filters;
  const list = usePayoutList({ status, kind });
  return (
    <>
      <PageHeader
        title="Payouts"
        description={
          <>
            To wallets and between accounts, newest first.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens.
            </span>
          </>
        }
        actions={
          <>
            <Link href="/payouts/schedules" className={buttonLooks()}>
              <CalendarClock aria-hidden /> Schedules
            </Link>
            <PayLink />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <FilterFields filters={filters} />
        <PagedCard
          list={list}
          what="payouts"
          money="Payouts that run go on without this page."
          empty={status === null && kind === null ? <NoPayouts /> : <NoMatch filters={filters} />}
        >
          {(payouts) => <PayoutTable payouts={payouts} />}
        </PagedCard>
        <ApiSnippet method="GET" path={pathOf(listPayouts, { query: { status, kind } })} />
      </div>
    </>
  );
};

const FilterFields = ({ filters }: { readonly filters: Filters }): ReactNode => (
  <div className="flex flex-wrap gap-3">
    <Field label="Kind" className="w-48">
      <Select
        value={filters.kind ?? ALL}
        onValueChange={(next) => void filters.setKind(PAYOUT_KINDS.find((one) => one === next) ?? null)}
        options={[
          { value: ALL, label: "All payouts" },
          { value: "wallets", label: "To wallets" },
          { value: "global_accounts", label: "Between accounts" },
        ]}
      />
    </Field>
    <Field label="Status" className="w-48">
      <Select
        value={filters.status ?? ALL}
        onValueChange={(next) => void filters.setStatus(LISTED.find((one) => one === next) ?? null)}
        options={[
          { value: ALL, label: "All states" },
          ...LISTED.map((value) => ({ value, label: STATUS_VIEWS[value].word })),
        ]}
      />
    </Field>
  </div>
);

const NoPayouts = (): ReactNode => (
  <EmptyState icon={HandCoins} title="No payouts yet" action={<PayLink />}>
    Pay up to 10,000 wallets or accounts at once: salaries, refunds, revenue shares. Bring a CSV or XLSX file; every row
    is checked before anything is paid, and a one-time code approves it.
  </EmptyState>
);

const NoMatch = ({ filters }: { readonly filters: Filters }): ReactNode => (
  <EmptyState
    icon={HandCoins}
    title="No payout matches"
    action={
      <Button
        onClick={() => {
          void filters.setStatus(null);
          void filters.setKind(null);
        }}
      >
        Show all payouts
      </Button>
    }
  />
);

const PayLink = (): ReactNode => (
  <Link href="/payouts/new" className={buttonLooks({ variant: "primary" })}>
    <Plus aria-hidden /> New payout
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
