"use client";

import { Printer } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useAccountNames } from "@/components/features/global-accounts/account";
import { useNames } from "@/components/features/names/names";
import { useChain } from "@/components/providers/public-config";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { cn } from "@/components/ui/cn";
import { QueryContent, QueryPanel } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { useTitleOptions } from "@/components/ui/use-locale";
import { isFinal } from "@/lib/core/status";
import { countText } from "@/lib/core/amount-text";
import { countsOf, titleOf, totalsOf, type Payout, usePayout } from "./payout";
import type { PayoutRow } from "./rows-file";
import { stateText, usePayoutRows } from "./use-payout-rows";

/**
 * The payout for print: every row with its transaction. The browser makes the PDF, because its
 * fonts have the letters of every language, unlike the fonts of a PDF library.
 */
export const ReceiptPage = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const query = usePayout(payoutId);
  return (
    <>
      {query.data === undefined ? <h1 className="sr-only">Payout receipt</h1> : null}
      <QueryPanel query={query} what="the payout" rows={6}>
        {(payout) => <Loaded payout={payout} />}
      </QueryPanel>
    </>
  );
};

const Loaded = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const query = usePayoutRows(payout);
  const nameOf = useNameOf();
  return (
    <>
      <div className="flex flex-wrap justify-end gap-2 pb-4 print:hidden">
        <Link href={`/payouts/${payout.payoutId}`} className={buttonLooks()}>
          Back to the payout
        </Link>
        <Button
          variant="primary"
          disabled={query.data === undefined}
          onClick={() => window.print()}
        >
          <Printer aria-hidden /> Print or save as PDF
        </Button>
      </div>
      <article className="@container rounded-card border bg-surface p-4 sm:p-6 print:border-0 print:p-0">
        <ReceiptHead payout={payout} />
        <QueryContent query={query} what="the rows" rows={8}>
          {(rows) => <ReceiptRows payout={payout} rows={rows} nameOf={nameOf} />}
        </QueryContent>
      </article>
    </>
  );
};

interface LineProps {
  readonly label: string;
  readonly children: ReactNode;
}

const Line = ({ label, children }: LineProps): ReactNode => (
  <div className="flex flex-wrap gap-x-2">
    <dt className="w-28 text-fg-2">{label}</dt>
    <dd className="min-w-0 flex-1 [overflow-wrap:anywhere]">{children}</dd>
  </div>
);

const useNameOf = (): ((id: string) => string | undefined) => {
  const { ofAddress } = useNames();
  const accountNameOf = useAccountNames();
  return (id) => accountNameOf(id) ?? ofAddress(id);
};

interface NamedProps {
  readonly name: string | undefined;
  readonly id: string;
}

/** The full id is shown, because a printed page has no tooltips. */
const Named = ({ name, id }: NamedProps): ReactNode => (
  <>
    {name === undefined ? null : <span className="pr-2 font-medium">{name}</span>}
    <code className="font-mono break-all">{id}</code>
  </>
);

const ReceiptHead = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const chain = useChain(payout.kind === "wallets" ? payout.chainId : 0);
  const nameOf = useNameOf();
  const options = useTitleOptions();
  const from = payout.kind === "wallets" ? payout.fromAddress : payout.sourceAccountId;
  return (
    <header className="pb-4">
      <p className="text-fg-2">Payout receipt</p>
      <h1 className="text-2xl font-semibold">{titleOf(payout, options)}</h1>
      <p className="pb-3">{payout.outcome.sentence}</p>
      <dl className="flex flex-col gap-1">
        <Line label="Payout">
          <code className="font-mono text-sm break-all">{payout.payoutId}</code>
        </Line>
        <Line label="From">
          <Named id={from} name={nameOf(from)} />
        </Line>
        {payout.kind === "wallets" ? (
          <Line label="Chain">{`${chain?.name ?? "Chain"} (${String(payout.chainId)})`}</Line>
        ) : null}
        <Line label="Created">
          <Time value={payout.createdAt} absolute />
        </Line>
        <Line label={isFinal(payout.status) ? "Ended" : "Last change"}>
          <Time value={payout.updatedAt} absolute />
        </Line>
        {totalsOf(payout).map(({ unit, amount, paid }) => (
          <Line key={unit} label={`Total ${unit}`}>
            <Amount value={paid} symbol={unit} plain exact /> of{" "}
            <Amount value={amount} unit={unit} plain exact /> paid
          </Line>
        ))}
        {payout.kind === "wallets" && payout.networkFee !== null ? (
          <Line label="Network fee">
            <Amount
              value={payout.networkFee.amount}
              symbol={payout.networkFee.token.symbol}
              plain
              exact
            />{" "}
            {payout.networkFee.token.symbol}
            {payout.networkFee.estimated ? ", estimated" : ""}
          </Line>
        ) : null}
      </dl>
    </header>
  );
};

const CELL = "border-t py-1 pr-3 text-left align-top";

interface ReceiptRowsProps {
  readonly payout: Payout;
  readonly rows: readonly PayoutRow[];
  readonly nameOf: (id: string) => string | undefined;
}

const ReceiptRows = ({ payout, rows, nameOf }: ReceiptRowsProps): ReactNode => (
  <table
    className="w-full text-xs @max-[52rem]:block"
    aria-label={`${countText(countsOf(payout).total)} rows`}
  >
    <thead className="@max-[52rem]:sr-only">
      <tr>
        {["#", "Recipient", "Amount", "Reference", "State", "Transaction"].map((word) => (
          <th
            key={word}
            scope="col"
            className={cn(
              "py-1 pr-3 text-left font-medium text-fg-2",
              word === "Amount" && "text-right",
            )}
          >
            {word}
          </th>
        ))}
      </tr>
    </thead>
    <tbody className="@max-[52rem]:block">
      {rows.map((row) => (
        <tr
          key={row.index}
          className="break-inside-avoid @max-[52rem]:flex @max-[52rem]:flex-wrap @max-[52rem]:gap-x-3 @max-[52rem]:border-t @max-[52rem]:py-2 @max-[52rem]:[&_td]:border-0 @max-[52rem]:[&_td]:p-0"
        >
          <td className={`${CELL} num`}>{row.index + 1}</td>
          <td className={`${CELL} @max-[52rem]:flex-1 @max-[52rem]:basis-4/5`}>
            <Named id={row.recipient} name={nameOf(row.recipient)} />
          </td>
          <td className={`${CELL} text-right whitespace-nowrap`}>
            <Amount value={row.amount} unit={row.unit} plain exact />
          </td>
          <td className={`${CELL} [overflow-wrap:anywhere]`}>{row.reference}</td>
          <td className={CELL}>{stateText(row)}</td>
          <td className={`${CELL} font-mono break-all`}>{row.transaction}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
