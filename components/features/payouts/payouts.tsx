"use client";

import { CalendarClock, HandCoins, Plus } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useMemo } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PagedCard } from "@/components/features/session/paged-card";
import { joinPages } from "@/components/features/session/use-lists";
import { Amount, columnTail, type ColumnTail, Unknown, Worth } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { ChainName } from "@/components/ui/marks";
import { EmptyState } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { useAmountsHidden } from "@/components/ui/hidden-amounts";
import { Kbd } from "@/components/ui/kbd";
import { PageHeader } from "@/components/ui/page-header";
import { type Column, RowLink, Table, useListKeys } from "@/components/ui/table";
import { Select } from "@/components/ui/select";
import {
  SelectButton,
  selectColumn,
  type Selection,
  useSelection,
} from "@/components/ui/selection";
import { STATUS_VIEWS } from "@/components/ui/badge";
import { Time } from "@/components/ui/time";
import { useLocale, useTitleOptions } from "@/components/ui/use-locale";
import { listPayouts } from "@/lib/api-client/calls.gen";
import { PAYOUT_KINDS } from "@/lib/core/payout-facts";
import { countText } from "@/lib/core/amount-text";
import { STATUSES } from "@/lib/core/status";
import { countsOf, type Payout, titleOf, totalsOf } from "./payout";
import { PayoutStatus } from "./payout-status";
import { SelectedPayouts } from "./selected-payouts";
import { usePayoutList } from "./use-payouts";

const ALL = "all";
/**
 * Statuses of the filter. A payout is never `refunded`, because a payment that was made cannot be
 * taken back.
 */
const LISTED = STATUSES.filter((status) => status !== "refunded");

const useFilters = () => {
  const [status, setStatus] = useQueryState(
    "status",
    parseAsStringLiteral(LISTED).withOptions({ history: "replace" }),
  );
  const [kind, setKind] = useQueryState(
    "kind",
    parseAsStringLiteral(PAYOUT_KINDS).withOptions({ history: "replace" }),
  );
  return { status, setStatus, kind, setKind };
};
type Filters = ReturnType<typeof useFilters>;

export const Payouts = (): ReactNode => {
  const filters = useFilters();
  const { status, kind } = filters;
  const list = usePayoutList({ status, kind });
  const { data } = list;
  const loaded = useMemo(() => (data === undefined ? [] : joinPages(data).data), [data]);
  const selection = useSelection({
    keys: useMemo(() => loaded.map(({ payoutId }) => payoutId), [loaded]),
    filters: `${status ?? ""} ${kind ?? ""}`,
  });
  return (
    <>
      <PageHeader
        title="Payouts"
        description={
          <>
            To wallets and between accounts, newest first.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens, <Kbd>x</Kbd> selects.
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
        <div className="flex flex-wrap items-end gap-3">
          <FilterFields filters={filters} />
          <SelectButton selection={selection} />
        </div>
        <PagedCard
          list={list}
          what="payouts"
          money="Payouts that run go on without this page."
          empty={
            status === null && kind === null ? <NoPayouts /> : <NoMatch filters={filters} />
          }
        >
          {(payouts) => <PayoutTable payouts={payouts} selection={selection} />}
        </PagedCard>
        <SelectedPayouts payouts={loaded} selection={selection} />
        <ApiSnippet call={listPayouts} query={{ status, kind }} />
      </div>
    </>
  );
};

const FilterFields = ({ filters }: { readonly filters: Filters }): ReactNode => (
  <div className="flex flex-wrap gap-3">
    <Field label="Kind" className="w-48">
      <Select
        value={filters.kind ?? ALL}
        onValueChange={(next) =>
          void filters.setKind(PAYOUT_KINDS.find((one) => one === next) ?? null)
        }
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
        onValueChange={(next) =>
          void filters.setStatus(LISTED.find((one) => one === next) ?? null)
        }
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
    Pay up to 10,000 wallets or accounts at once: salaries, refunds, revenue shares. Bring a CSV
    or XLSX file; every row is checked before anything is paid, and a one-time code approves it.
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

interface PayoutTableProps {
  readonly payouts: readonly Payout[];
  readonly selection: Selection;
}

const PayoutTable = ({ payouts, selection }: PayoutTableProps): ReactNode => {
  const router = useRouter();
  const options = useTitleOptions();
  const active = useListKeys({
    keys: payouts.map(({ payoutId }) => payoutId),
    onOpen: (id) => router.push(`/payouts/${id}`),
    onSelect: selection.toggle,
  });
  const select = selectColumn<Payout>({
    selection,
    keyOf: ({ payoutId }) => payoutId,
    labelOf: (payout) => titleOf(payout, options),
  });
  return (
    <Table
      caption="Payouts"
      columns={[select, ...columnsOf(tailOf(payouts))]}
      rows={payouts}
      rowKey={({ payoutId }) => payoutId}
      activeKey={active}
    />
  );
};

const Rows = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { paid, total, failed, doubt } = countsOf(payout);
  const locale = useLocale();
  return (
    <span className="num">
      {countText(paid, locale)} of {countText(total, locale)} paid
      {failed === 0 ? null : (
        <span className="text-danger">, {countText(failed, locale)} failed</span>
      )}
      {doubt === 0 ? null : (
        <span className="text-warning">, {countText(doubt, locale)} in doubt</span>
      )}
    </span>
  );
};

const Title = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const options = useTitleOptions();
  return <RowLink href={`/payouts/${payout.payoutId}`}>{titleOf(payout, options)}</RowLink>;
};

interface TotalsProps {
  readonly payout: Payout;
  readonly tail: ColumnTail;
}

const Totals = ({ payout, tail }: TotalsProps): ReactNode => {
  const hidden = useAmountsHidden();
  const [first, ...more] = totalsOf(payout);
  if (first === undefined) return null;
  return (
    <span
      className="inline-flex flex-col items-end"
      title={more.map(({ amount, unit }) => (hidden ? unit : `${amount} ${unit}`)).join(", ")}
    >
      <Amount value={first.amount} unit={first.unit} plain column={tail} />
      {more.length === 0 ? null : (
        <span className="text-sm text-fg-3">and {more.length} more</span>
      )}
    </span>
  );
};

const tailOf = (payouts: readonly Payout[]): ColumnTail =>
  columnTail(
    payouts
      .flatMap((payout) => totalsOf(payout)[0] ?? [])
      .map(({ amount, unit }) => ({ value: amount, symbol: unit })),
  );

const columnsOf = (tail: ColumnTail): readonly Column<Payout>[] => [
  {
    id: "reference",
    header: "Payout",
    phone: "title",
    cell: (payout) => <Title payout={payout} />,
  },
  {
    id: "kind",
    header: "Kind",
    phone: "hidden",
    priority: "medium",
    cell: (payout) =>
      payout.kind === "wallets" ? (
        <span>
          Wallets on <ChainName chainId={payout.chainId} />
        </span>
      ) : (
        "Accounts"
      ),
  },
  { id: "rows", header: "Rows", bare: true, cell: (payout) => <Rows payout={payout} /> },
  {
    id: "total",
    header: "Total",
    align: "right",
    bare: true,
    cell: (payout) => <Totals payout={payout} tail={tail} />,
  },
  {
    id: "usd",
    header: <span title="As it was priced then">Value</span>,
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ usd }) =>
      usd === null ? (
        <Unknown reason="No price was recorded then" />
      ) : (
        <Worth value={usd} plain />
      ),
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (payout) => <PayoutStatus payout={payout} />,
  },
  {
    id: "time",
    header: "Created",
    align: "right",
    phone: "hidden",
    cell: (payout) => <Time value={payout.createdAt} />,
  },
];
