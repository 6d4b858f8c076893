"use client";

import { isZero } from "@/components/features/swap/decimal";
import { ArrowLeftRight, Landmark, Send } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useSentOnce } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { AddressGroups, TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { ChainName } from "@/components/ui/marks";
import { ActionError, joinQueries, QueryContent } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { startPrivateExit } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { setText } from "./observer/scenes";
import {
  hasMoney,
  Held,
  type PoolBalance,
  poolKey,
  PoolName,
  type PrivateExit,
  TokenAmountText,
} from "./parts";
import { usePrivateNames } from "./names";
import { pathOfTransfer, usePrivateExits, useTakeOver } from "./use-private";

/** Links to the actions, with this wallet and pool already chosen. */
const Actions = ({ pool }: { readonly pool: PoolBalance }): ReactNode => {
  const query = `?wallet=${pool.privacyWalletId}&pool=${encodeURIComponent(poolKey(pool))}`;
  const { symbol } = pool.token;
  if (isZero(pool.spendable))
    return (
      <Link
        href={`/private/shield${query}`}
        className={buttonLooks({ variant: "ghost", size: "sm" })}
      >
        Shield <span className="sr-only">{symbol}</span>
      </Link>
    );
  const link = (action: string, title: string, icon: ReactNode): ReactNode => (
    <Link
      href={`/private/${action}${query}`}
      className={cn(buttonLooks({ variant: "ghost", size: "sm" }), "aspect-square px-0")}
      aria-label={`${title} ${symbol}`}
      title={title}
    >
      {icon}
    </Link>
  );
  return (
    <span className="inline-flex gap-0.5">
      {link("transfer", "Transfer", <Send aria-hidden />)}
      {pool.canProcess ? link("swap", "Swap", <ArrowLeftRight aria-hidden />) : null}
      {link("unshield", "Unshield", <Landmark aria-hidden />)}
    </span>
  );
};

const COLUMNS: readonly Column<PoolBalance>[] = [
  { id: "pool", header: "Pool", phone: "title", cell: (pool) => <PoolName {...pool} /> },
  {
    id: "spendable",
    header: "Spendable",
    align: "right",
    cell: ({ spendable, token }) => <Held amount={spendable} symbol={token.symbol} strong />,
  },
  {
    id: "waits",
    header: "Pending, in proof",
    align: "right",
    cell: (pool) => <Waiting pool={pool} />,
  },
  {
    id: "set",
    header: "Set",
    align: "right",
    phone: "hidden",
    cell: ({ anonymitySet }) => (
      <span
        className="num text-fg-2"
        title={`A withdrawal hides among ${setText(anonymitySet)}`}
      >
        {countText(anonymitySet)}
        <span className="sr-only"> deposits</span>
      </span>
    ),
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (pool) => <Actions pool={pool} />,
  },
];

/** The parts of a balance that cannot be spent now, with their reasons. */
const Waiting = ({ pool }: { readonly pool: PoolBalance }): ReactNode => {
  const { symbol } = pool.token;
  const parts = [
    { word: "pending approval", amount: pool.pendingApproval, looks: "text-fg-2" },
    { word: "in proof", amount: pool.inProof, looks: "text-private" },
    { word: "declined", amount: pool.declined, looks: "text-danger" },
  ].filter(({ amount }) => !isZero(amount));
  if (parts.length === 0) return <span className="text-fg-3">–</span>;
  return (
    <span className="inline-flex flex-col items-end text-sm">
      {parts.map(({ word, amount, looks }) => (
        <span key={word} className={looks}>
          <Held amount={amount} symbol={symbol} /> {word}
        </span>
      ))}
    </span>
  );
};

/** The pools of a private wallet that have money. A button shows the empty pools. */
export const PoolsTable = ({
  pools,
}: {
  readonly pools: readonly PoolBalance[];
}): ReactNode => {
  const [showsEmpty, setShowsEmpty] = useState(false);
  const full = pools.filter(hasMoney);
  const empty = pools.filter((pool) => !hasMoney(pool));
  return (
    <>
      <Table
        caption="Private balances"
        columns={COLUMNS}
        rows={showsEmpty ? [...full, ...empty] : full}
        rowKey={poolKey}
      />
      {empty.length === 0 ? null : (
        <div className="border-t px-2 py-1">
          <Button
            variant="ghost"
            size="sm"
            aria-expanded={showsEmpty}
            onClick={() => setShowsEmpty(!showsEmpty)}
          >
            {showsEmpty ? "Hide" : "Show"} {empty.length} empty pool
            {empty.length === 1 ? "" : "s"}
          </Button>
        </div>
      )}
    </>
  );
};

const State = ({ exit }: { readonly exit: PrivateExit }): ReactNode => {
  if (exit.leaving) return <Badge tone="info">Leaving in public</Badge>;
  return exit.state === "declined" ? (
    <Badge tone="danger">Declined</Badge>
  ) : (
    <Badge>Pending approval</Badge>
  );
};

interface ExitsCardProps {
  readonly walletId: string;
  /** Whether the wallet has unapproved deposits; without them the card is hidden. */
  readonly present: boolean;
}

export const ExitsCard = ({ walletId, present }: ExitsCardProps): ReactNode => {
  const { devnet } = usePublicConfig();
  const query = usePrivateExits(present);
  const [chosen, setChosen] = useState<PrivateExit | null>(null);
  if (!present) return null;
  const exits = query.data?.data.filter((exit) => exit.privacyWalletId === walletId);
  const columns: readonly Column<PrivateExit>[] = [
    {
      id: "pool",
      header: "Pool",
      phone: "title",
      cell: ({ chainId, amount }) => <PoolName chainId={chainId} token={amount.token} />,
    },
    {
      id: "amount",
      header: "Amount",
      align: "right",
      phone: "aside",
      cell: ({ amount }) => <TokenAmountText value={amount} />,
    },
    { id: "state", header: "State", cell: (exit) => <State exit={exit} /> },
    {
      id: "tx",
      header: "Deposit",
      phone: "hidden",
      priority: "medium",
      cell: ({ txHash }) => <TxHash value={txHash} />,
    },
    {
      id: "action",
      header: <span className="sr-only">Action</span>,
      align: "right",
      cell: (exit) =>
        exit.leaving ? null : (
          <Button size="sm" onClick={() => setChosen(exit)}>
            Take out in public
          </Button>
        ),
    },
  ];
  return (
    <Card
      flush
      title="Not approved"
      description={
        devnet
          ? "A pending deposit becomes spendable when it is approved: on local chains within seconds."
          : "A pending deposit becomes spendable when the provider approves it: within an hour as a rule, up to seven days."
      }
    >
      <QueryContent
        query={joinQueries([query], exits && { data: exits })}
        what="deposits that are not approved"
        rows={1}
        compact
        empty={<p className="px-4 py-3 text-fg-2">Everything is approved now.</p>}
      >
        {({ data }) => (
          <Table
            caption="Deposits that are not approved"
            columns={columns}
            rows={data}
            rowKey={({ noteId }) => noteId}
          />
        )}
      </QueryContent>
      {chosen === null ? null : <ExitDialog exit={chosen} onClose={() => setChosen(null)} />}
    </Card>
  );
};

interface ExitDialogProps {
  readonly exit: PrivateExit;
  readonly onClose: () => void;
}

/**
 * Starts the public return of an unapproved deposit to the treasury. The next page asks for the
 * code that approves it.
 */
const ExitDialog = ({ exit, onClose }: ExitDialogProps): ReactNode => {
  const router = useRouter();
  const names = usePrivateNames();
  const treasury = useTreasury();
  const takeOver = useTakeOver();
  const { mutation, send } = useSentOnce(startPrivateExit);
  const { chainId, noteId, privacyWalletId, amount } = exit;
  const start = async (): Promise<void> => {
    const transfer = await send({ body: { chainId, noteId, privacyWalletId } }).catch(
      () => null,
    );
    if (transfer === null) return;
    takeOver(transfer);
    router.push(`${pathOfTransfer(transfer)}?approve=true`);
  };
  return (
    <Dialog
      onClose={onClose}
      title="Take the deposit out in public"
      description="Nothing moves before you approve it with a one-time code."
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="primary" loading={mutation.isPending} onClick={() => void start()}>
            Take out in public
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Alert tone="warning" title="Everybody sees this">
          The public exit shows which deposit left, its amount and its time.
          {exit.state === "pending"
            ? " Once the deposit is approved you can unshield it in private instead."
            : null}
        </Alert>
        <Facts>
          <Fact label="From">{names.walletName(privacyWalletId)}</Fact>
          <Fact label="To">
            Treasury on <ChainName chainId={chainId} />
            {treasury === undefined ? null : (
              <>
                <br />
                <AddressGroups value={treasury.address} className="justify-end" />
              </>
            )}
          </Fact>
          <Fact label="Received exactly" strong>
            <TokenAmountText value={amount} whole />
          </Fact>
        </Facts>
        <ActionError error={mutation.error} money="Nothing was sent." />
      </div>
    </Dialog>
  );
};
