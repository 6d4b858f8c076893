"use client";

import { CircleCheck, CirclePause, Hourglass, LoaderCircle, Undo2 } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Counterparty } from "@/components/features/deposits/counterparty";
import { depositSentence, type DepositRecord } from "@/components/features/deposits/words";
import { useApiQuery } from "@/components/features/session/use-api";
import { compareAmounts } from "@/components/features/swap/decimal";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { useAmountsHidden } from "@/components/ui/hidden-amounts";
import { Time } from "@/components/ui/time";
import { listOperations } from "@/lib/api-client/calls.gen";
import { readAmount } from "@/lib/core/read-amount";
import type { TokenInfo } from "./use-receive";
import { useDepositStream } from "./use-deposit-stream";

const SHOWN = 5;

const ICONS = {
  pending: LoaderCircle,
  credited: CircleCheck,
  quarantined: CirclePause,
  released: CircleCheck,
  dropped: Undo2,
} as const;

interface WaitingCardProps {
  readonly walletId: string;
  readonly chainId: number;
  readonly token: TokenInfo;
  /** As typed; empty: any amount. */
  readonly expected: string;
}

/** The latest deposits of a wallet on a chain, and the one that is waited for. */
export const WaitingCard = ({ walletId, chainId, token, expected }: WaitingCardProps): ReactNode => {
  const query = { kind: "deposit", walletId, chainId, limit: SHOWN } as const;
  const listed = useApiQuery(listOperations, { query }).data?.data ?? [];
  const stream = useDepositStream();
  const hidden = useAmountsHidden();
  const told = [...stream.deposits.values()].filter((each) => each.walletId === walletId && each.chainId === chainId);
  const byId = new Map(listed.flatMap(({ deposit }) => (deposit === null ? [] : [[deposit.depositId, deposit]])));
  for (const deposit of told) byId.set(deposit.depositId, deposit);
  const deposits = [...byId.values()].sort((a, b) => (a.depositId < b.depositId ? 1 : -1)).slice(0, SHOWN);
  const asked = readAmount(expected);
  const isHere = told.some((deposit) => deposit.received.token.address === token.address);
  const [newest] = deposits;
  return (
    <Card
      title={isHere ? "Deposits" : "Waiting for a deposit"}
      actions={<span className="text-sm text-fg-3">{stream.live ? "Live" : "Connecting again"}</span>}
      flush
      className="lg:col-span-7"
    >
      <p role="status" className="sr-only">
        {isHere && newest !== undefined
          ? `${hidden ? "" : `${newest.received.amount} `}${newest.received.token.symbol}. ${depositSentence(newest)}`
          : ""}
      </p>
      {isHere ? null : (
        <p className="flex items-center gap-2 border-b px-4 py-3 text-fg-2">
          <Hourglass className="size-4 shrink-0" aria-hidden />
          <span>
            Nothing new yet.{" "}
            {asked === null ? `Any ${token.symbol}` : <Amount value={asked} unit={token.symbol} plain />} sent to the
            address appears here within seconds of its block.
          </span>
        </p>
      )}
      <ul className="divide-y" aria-label="Latest deposits">
        {deposits.map((deposit) => (
          <DepositLine key={deposit.depositId} deposit={deposit} token={token} expected={asked} />
        ))}
      </ul>
    </Card>
  );
};

interface DepositLineProps {
  readonly deposit: DepositRecord;
  readonly token: TokenInfo;
  /** A plain decimal string; null: any amount. */
  readonly expected: string | null;
}

const DepositLine = ({ deposit, token, expected }: DepositLineProps): ReactNode => {
  const Icon = ICONS[deposit.state];
  const { amount, token: received } = deposit.received;
  const isExpected = expected !== null && received.address === token.address && compareAmounts(amount, expected) === 0;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
      <Icon className="size-4 shrink-0 text-fg-2" aria-hidden />
      <span className="min-w-0 flex-1 basis-64">
        <Link href={`/activity/${deposit.depositId}`} className="link">
          {depositSentence(deposit)}
        </Link>
        <span className="block text-sm text-fg-3">
          <Counterparty address={deposit.sender} /> <Time value={deposit.detectedAt} />
        </span>
      </span>
      {isExpected ? <Badge tone="success">As expected</Badge> : null}
      <Amount value={amount} unit={received.symbol} />
    </li>
  );
};
