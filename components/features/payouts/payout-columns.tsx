"use client";

import type { ReactNode } from "react";
import { Amount, Unknown, Usd } from "@/components/ui/amount";
import { useAmountsHidden } from "@/components/ui/hidden-amounts";
import { useLocale } from "@/components/ui/use-locale";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { ChainName } from "@/components/ui/chain-name";
import { RowLink } from "@/components/ui/row-link";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { countText } from "@/lib/core/amount-text";
import { countsOf, titleOf, totalsOf, type Payout } from "./payout";
import { PayoutStatus } from "./payout-status";

const Rows = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { paid, total, failed, doubt } = countsOf(payout);
  const locale = useLocale();
  return (
    <span className="num">
      {countText(paid, locale)} of {countText(total, locale)} paid
      {failed === 0 ? null : <span className="text-danger">, {countText(failed, locale)} failed</span>}
      {doubt === 0 ? null : <span className="text-warning">, {countText(doubt, locale)} in doubt</span>}
    </span>
  );
};

const Title = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const options = useTitleOptions();
  return (
    <RowLink href={`/payouts/${payout.payoutId}`} className="[overflow-wrap:anywhere]">
      {titleOf(payout, options)}
    </RowLink>
  );
};

const Totals = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const hidden = useAmountsHidden();
  const [first, ...more] = totalsOf(payout);
  if (first === undefined) return null;
  return (
    <span title={more.map(({ amount, unit }) => (hidden ? unit : `${amount} ${unit}`)).join(", ")}>
      <Amount value={first.amount} unit={first.unit} plain />
      {more.length === 0 ? null : <span className="ml-1 text-sm text-fg-3">+ {more.length} more</span>}
    </span>
  );
};

export const PAYOUT_COLUMNS: readonly Column<Payout>[] = [
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
  { id: "total", header: "Total", align: "right", bare: true, cell: (payout) => <Totals payout={payout} /> },
  {
    id: "usd",
    header: <span title="In US dollars, as it was priced then">Value</span>,
    align: "right",
    phone: "hidden",
    priority: "low",
    className: "whitespace-nowrap",
    cell: ({ usd }) => (usd === null ? <Unknown reason="No price was recorded then" /> : <Usd value={usd} plain />),
  },
  { id: "status", header: "Status", phone: "aside", cell: (payout) => <PayoutStatus payout={payout} /> },
  {
    id: "time",
    header: "Created",
    align: "right",
    phone: "hidden",
    cell: (payout) => <Time value={payout.createdAt} />,
  },
];
