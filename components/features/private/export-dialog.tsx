"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { ChangeDialog, ConfirmChange } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button, CopyButton } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Checkbox } from "@/components/ui/field";
import { Time } from "@/components/ui/time";
import { exportPrivacyWallet, listPrivacyWallets } from "@/lib/api-client/calls.gen";
import type { Exported, PrivacyWallet } from "./parts";

interface ExportDialogProps {
  readonly wallet: PrivacyWallet;
  readonly onClose: () => void;
}

/**
 * Warns, asks for an approval, and shows the mnemonic once. It is discarded when the dialog closes.
 */
export const ExportDialog = ({ wallet, onClose }: ExportDialogProps): ReactNode => {
  const api = useApi();
  const [understood, setUnderstood] = useState(false);
  // The mnemonic is stored only in this state, never in a cache.
  const [exported, setExported] = useState<Exported | null>(null);
  const cache = useCache();
  const change = useApprovable<null>(`private.export ${wallet.id}`, async (_input, proof) => {
    setExported(
      await api.call(exportPrivacyWallet, { params: { id: wallet.id }, body: proof }),
    );
    void cache.refresh(listPrivacyWallets);
  });
  return (
    <ChangeDialog
      change={change}
      onClose={onClose}
      title={`Export the mnemonic of ${wallet.name}`}
      size="lg"
    >
      {exported === null ? (
        <ConfirmChange
          change={change}
          input={null}
          money="Nothing was shown."
          act="Approve and show"
          tone="danger"
          disabled={!understood}
          onCancel={onClose}
        >
          <Alert tone="danger" title="Anybody with these words can take the money">
            They move every note of this wallet, on all chains, without Causeway and without a
            code. Show them to nobody. The export needs your approval, every owner is mailed,
            and the wallet is marked as exported for ever. Where the project demands votes,
            other people decide first; then export again to see the words.
          </Alert>
          <Checkbox
            label="Nobody else can see my screen."
            checked={understood}
            onChange={(event) => setUnderstood(event.target.checked)}
          />
        </ConfirmChange>
      ) : (
        <Answer exported={exported} onClose={onClose} />
      )}
    </ChangeDialog>
  );
};

interface AnswerProps {
  readonly exported: Exported;
  readonly onClose: () => void;
}

const Answer = ({ exported, onClose }: AnswerProps): ReactNode => {
  const { waitsFor, mnemonic, pools } = exported;
  if (waitsFor !== null) return <Waiting waitsFor={waitsFor} onClose={onClose} />;
  return mnemonic === null ? null : (
    <Words mnemonic={mnemonic} pools={pools} onClose={onClose} />
  );
};

interface WaitingProps {
  readonly waitsFor: NonNullable<Exported["waitsFor"]>;
  readonly onClose: () => void;
}

const Waiting = ({ waitsFor, onClose }: WaitingProps): ReactNode => (
  <div className="flex flex-col gap-4">
    <Alert tone="info" title="Other people vote on this">
      Nothing was shown. Once they have approved it, export again within an hour: you then see
      the words once. The request ends by itself <Time value={waitsFor.expiresAt} />.
    </Alert>
    <div className="flex justify-end gap-2">
      <Button onClick={onClose}>Close</Button>
      <Link
        href={`/inbox/${waitsFor.decisionId}`}
        className={buttonLooks({ variant: "primary" })}
      >
        Open the request
      </Link>
    </div>
  </div>
);

interface WordsProps {
  readonly mnemonic: string;
  readonly pools: Exported["pools"];
  readonly onClose: () => void;
}

const Words = ({ mnemonic, pools, onClose }: WordsProps): ReactNode => (
  <div className="flex flex-col gap-4">
    <p>
      Write the words down in this order and keep them offline. They are not shown again without
      a new approval.
    </p>
    <ol aria-label="Mnemonic" className="grid grid-cols-2 gap-2 sm:grid-cols-3">
      {mnemonic.split(" ").map((word, index) => (
        <li
          key={index}
          className="flex items-baseline gap-2 rounded-control border bg-sunken px-2 py-1.5"
        >
          <span className="num w-5 text-right text-sm text-fg-3">{index + 1}</span>
          <code className="font-mono">{word}</code>
        </li>
      ))}
    </ol>
    <div className="flex items-center justify-between gap-2">
      <span className="inline-flex items-center text-sm text-fg-2">
        Copy the words <CopyButton value={mnemonic} label="Copy mnemonic" />
      </span>
      <span className="inline-flex items-center text-sm text-fg-2">
        Pools, for other software{" "}
        <CopyButton value={JSON.stringify(pools, null, 2)} label="Copy pools" />
      </span>
      <Button variant="primary" onClick={onClose}>
        I have kept them
      </Button>
    </div>
  </div>
);
