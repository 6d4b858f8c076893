"use client";

import { Fragment, type ReactNode } from "react";
import { FeeLines } from "@/components/features/swap/fee-lines";
import { AddressGroups } from "@/components/ui/address-groups";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { CopyButton } from "@/components/ui/copy-button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { isFinal } from "@/lib/core/status";
import { sumByAsset, type AssetSum } from "./asset-sums";
import { networkFeesOf, quotedFeesOf, type Payer } from "./network-fees";
import type { Operation } from "./types";

const PAID_BY: Readonly<Record<Payer, string>> = {
  sponsor: "paid by the project's sponsor",
  wallet: "paid by the wallet",
};
/** On cheap chains it begins far behind the point. */
const NETWORK_FEE_DIGITS = 8;

interface AmountsCardProps {
  readonly operation: Operation;
  /** Over both columns of the page. */
  readonly wide: boolean;
}

/** The amounts of the quote beside the amounts that were sent and received. */
export const AmountsCard = ({ operation, wide }: AmountsCardProps): ReactNode => {
  const { quoted, actual, status } = operation;
  return (
    <Card title="Quoted and actual" className={wide ? "lg:col-span-2" : ""}>
      <table className="w-full max-sm:text-sm">
        <caption className="sr-only">Quoted and actual amounts</caption>
        <thead>
          <tr className="border-b text-sm text-fg-3">
            <td />
            <th scope="col" className="h-8 text-right font-medium">
              Quoted
            </th>
            <th scope="col" className="h-8 text-right font-medium">
              Actual
            </th>
          </tr>
        </thead>
        <tbody className="divide-y">
          <Row label="Sent" quoted={sumByAsset(quoted.from)} actual={sumByAsset(actual.spent)} />
          <Row
            label="Received"
            quoted={sumByAsset([quoted.to])}
            actual={sumByAsset([actual.received])}
            note={
              <>
                at least <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} plain />
              </>
            }
          />
        </tbody>
      </table>
      {isFinal(status) ? null : <p className="pt-2 text-sm text-fg-3">The actual amounts are those seen so far.</p>}
      <Facts className="mt-2 border-t">
        <Fact label="To">
          <AddressGroups value={quoted.to.address} /> <CopyButton value={quoted.to.address} label="Copy address" />
          <br />
          on <ChainName chainId={quoted.to.chainId} />
        </Fact>
        <Fact label="Fees, as quoted">
          <FeeLines fees={quotedFeesOf(operation.fees)} />
        </Fact>
        {networkFeesOf(operation.fees).map(({ paidBy, sums }) => (
          <Fact key={paidBy} label="Network fee">
            {sums.map((sum) => (
              <Fragment key={sum.assetId}>
                <Amount value={sum.amount} unit={sum.symbol} fractionMax={NETWORK_FEE_DIGITS} />
                {", "}
              </Fragment>
            ))}
            {PAID_BY[paidBy]}
          </Fact>
        ))}
        <Fact label="Started by">
          <code className="font-mono text-sm break-all">{operation.createdBy}</code>
        </Fact>
      </Facts>
    </Card>
  );
};

interface RowProps {
  readonly label: string;
  readonly quoted: readonly AssetSum[];
  readonly actual: readonly AssetSum[];
  readonly note?: ReactNode;
}

const Sums = ({ sums }: { readonly sums: readonly AssetSum[] }): ReactNode =>
  sums.map((sum) => (
    <span key={sum.assetId} className="block">
      <Amount value={sum.amount} unit={sum.symbol} />
    </span>
  ));

const Row = ({ label, quoted, actual, note }: RowProps): ReactNode => (
  <tr className="align-baseline">
    <th scope="row" className="h-9 text-left font-normal text-fg-2">
      {label}
    </th>
    <td className="py-2 pl-2 text-right sm:pl-3">
      <Sums sums={quoted} />
      {note === undefined ? null : <span className="block text-sm text-fg-3">{note}</span>}
    </td>
    <td className="py-2 pl-2 text-right sm:pl-3 font-medium">
      <Sums sums={actual} />
    </td>
  </tr>
);
