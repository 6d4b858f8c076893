"use client";

import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { dropBps, percentText } from "@/components/features/swap/decimal";
import type { Promised } from "./types";

interface PriceChangeProps {
  readonly seen: Promised;
  readonly fresh: Promised;
  readonly onAccept: () => void;
  readonly title?: string;
  readonly acceptLabel?: string;
}

/** A price that is worse than the one that was seen: old and new side by side, to be accepted. */
export const PriceChange = ({
  seen,
  fresh,
  onAccept,
  title = "The rate changed",
  acceptLabel = "Accept the new rate",
}: PriceChangeProps): ReactNode => (
  <Alert
    tone="warning"
    title={title}
    actions={
      <Button size="sm" variant="primary" onClick={onAccept}>
        {acceptLabel}
      </Button>
    }
  >
    <table className="w-full max-w-md">
      <thead className="text-sm text-fg-2">
        <tr>
          <td />
          <th scope="col" className="text-right font-normal">
            You saw
          </th>
          <th scope="col" className="text-right font-normal">
            Now
          </th>
        </tr>
      </thead>
      <tbody>
        <ChangeRow
          label="Minimum received"
          before={seen.minAmount}
          after={fresh.minAmount}
          symbol={fresh.token.symbol}
        />
        <ChangeRow label="Expected" before={seen.amount} after={fresh.amount} symbol={fresh.token.symbol} />
      </tbody>
    </table>
    <p className="pt-1 text-sm">
      {fresh.token.symbol}, {percentText(dropBps(seen.amount, fresh.amount))} less expected.
    </p>
  </Alert>
);

interface ChangeRowProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  readonly symbol: string;
}

const ChangeRow = ({ label, before, after, symbol }: ChangeRowProps): ReactNode => (
  <tr>
    <th scope="row" className="text-left font-normal">
      {label}
    </th>
    <td className="pl-3 text-right text-fg-2">
      <Amount value={before} symbol={symbol} exact plain />
    </td>
    <td className="pl-3 text-right font-medium">
      <Amount value={after} symbol={symbol} exact plain />
    </td>
  </tr>
);
