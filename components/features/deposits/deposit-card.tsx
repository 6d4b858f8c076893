"use client";

import { type ReactNode, useState } from "react";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { ReasonDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useActorNames } from "@/components/features/audit/names";
import { Counterparty } from "@/components/features/names/names";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useCache } from "@/components/features/session/use-api";
import { TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount, Worth } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  getOperation,
  getUnifiedBalances,
  listOperations,
  readProjectInbox,
  releaseDeposit,
} from "@/lib/api-client/calls.gen";
import { type DepositRecord, VERDICT_WORDS } from "./words";

export const DepositCard = ({ deposit }: { readonly deposit: DepositRecord }): ReactNode => (
  <Card title="Deposit">
    {deposit.state === "quarantined" ? <Quarantine deposit={deposit} /> : null}
    <Facts>
      <Fact label="From">
        <Counterparty address={deposit.sender} full />
      </Fact>
      <Fact label="To">
        <Counterparty address={deposit.walletAddress} full />
        <br />
        on <ChainName chainId={deposit.chainId} />
      </Fact>
      <Fact label="Received" strong>
        <Amount value={deposit.received.amount} unit={deposit.received.token.symbol} />
      </Fact>
      <Fact label="Worth when it was credited">
        {deposit.usd === null ? (
          <span title="Known once it is credited and a price is known">–</span>
        ) : (
          <Worth value={deposit.usd} />
        )}
      </Fact>
      <Fact label="Transaction">
        {deposit.txHash === null ? (
          <span title="A contract sent these coins, and the chain keeps no log of it. The balance rose in or before this block.">
            Block {deposit.blockNumber}
          </span>
        ) : (
          <TxHash value={deposit.txHash} href={deposit.explorerUrl} />
        )}
      </Fact>
      <Fact label="Confirmations">
        {deposit.confirmations} of {deposit.confirmationsNeeded}
      </Fact>
      <Fact label="Screening of the sender">
        <Screening deposit={deposit} />
      </Fact>
      {deposit.decision === null ? null : <Decision decision={deposit.decision} />}
    </Facts>
  </Card>
);

const Screening = ({
  deposit: { screening },
}: {
  readonly deposit: DepositRecord;
}): ReactNode =>
  screening === null ? (
    "Not asked for"
  ) : (
    <>
      {VERDICT_WORDS[screening.verdict]}
      {screening.source === null ? null : (
        <span className="block text-sm text-fg-3">
          {screening.source}
          {screening.listVersion === null ? "" : ` version ${screening.listVersion}`},{" "}
          <Time value={screening.at} />
        </span>
      )}
    </>
  );

const Decision = ({
  decision,
}: {
  readonly decision: NonNullable<DepositRecord["decision"]>;
}): ReactNode => {
  const nameOf = useActorNames();
  return (
    <Fact label="Released by">
      {nameOf(decision.by)}, <Time value={decision.at} />
      <span className="block text-sm text-fg-3">{decision.reason}</span>
    </Fact>
  );
};

const Quarantine = ({ deposit }: { readonly deposit: DepositRecord }): ReactNode => {
  const [asking, setAsking] = useState(false);
  const mayRelease = useMay("deposits:release");
  useReopen(`deposit.release ${deposit.id}`, () => setAsking(true));
  return (
    <div className="pb-3">
      <Alert
        tone="warning"
        title="This money is kept back"
        actions={
          mayRelease && deposit.may.release ? (
            <Button size="sm" onClick={() => setAsking(true)}>
              Release …
            </Button>
          ) : undefined
        }
      >
        It is in the wallet, and is neither available nor counted as reserves.{" "}
        {!mayRelease
          ? "An owner or an admin may release it."
          : deposit.may.release
            ? "To return it, release it and transfer it to its sender."
            : "It can be released once its block is final."}
      </Alert>
      <ReleaseDialog deposit={deposit} open={asking} onClose={() => setAsking(false)} />
    </div>
  );
};

interface ReleaseDialogProps {
  readonly deposit: DepositRecord;
  readonly open: boolean;
  readonly onClose: () => void;
}

const ReleaseDialog = ({ deposit, open, onClose }: ReleaseDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const change = useApprovable<string>(
    `deposit.release ${deposit.id}`,
    async (reason, proof) => {
      const body = { reason, ...proof };
      await api.call(releaseDeposit, { params: { id: deposit.id }, body });
      void cache.refresh(getOperation, listOperations, getUnifiedBalances, readProjectInbox);
      toast.success("Released. The money may be moved.");
      onClose();
    },
  );
  return (
    <ReasonDialog
      open={open}
      onClose={onClose}
      title="Release this deposit?"
      description="Its money may be moved afterwards, and counts as reserves. The reason and your name go into the audit log."
      hint="Say how you checked it, and with whom."
      act="Release"
      keep="Keep in quarantine"
      money="It stays in quarantine."
      change={change}
    />
  );
};
