"use client";

import { useState, type ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { TxHash } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { PoolName, TokenAmountText } from "./amounts";
import { ExitDialog } from "./exit-dialog";
import type { PrivateExit } from "./types";
import { usePrivateExits } from "./use-private";

const State = ({ exit }: { readonly exit: PrivateExit }): ReactNode => {
  if (exit.leaving) return <Badge tone="info">Leaving in public</Badge>;
  return exit.state === "declined" ? <Badge tone="danger">Declined</Badge> : <Badge>Pending approval</Badge>;
};

/** Deposits that are not approved: when they can be spent, and the way out for those that never can. */
export const ExitsCard = ({
  walletId,
  present,
}: {
  readonly walletId: string;
  readonly present: boolean;
}): ReactNode => {
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
      {exits !== undefined ? (
        exits.length === 0 ? (
          <p className="px-4 py-3 text-fg-2">Everything is approved now.</p>
        ) : (
          <Table
            caption="Deposits that are not approved"
            columns={columns}
            rows={exits}
            rowKey={({ noteId }) => noteId}
          />
        )
      ) : query.isPending ? (
        <LoadingRows rows={1} what="deposits that are not approved" />
      ) : (
        <ErrorState compact error={query.error} onRetry={() => void query.refetch()} />
      )}
      {chosen === null ? null : <ExitDialog exit={chosen} onClose={() => setChosen(null)} />}
    </Card>
  );
};
