"use client";

import { useState, type ReactNode } from "react";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useApi } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox } from "@/components/ui/field";
import { exportPrivacyWallet } from "@/lib/api-client/calls.gen";
import type { PrivacyWallet } from "./types";

interface ExportDialogProps {
  readonly wallet: PrivacyWallet;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Warns, takes an approval, and shows the words once; they are gone from the page when the dialog closes. */
export const ExportDialog = ({ wallet, open, onOpenChange }: ExportDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title={`Export the mnemonic of ${wallet.name}`} size="lg">
    <ExportSteps wallet={wallet} onClose={() => onOpenChange(false)} />
  </Dialog>
);

interface ExportStepsProps {
  readonly wallet: PrivacyWallet;
  readonly onClose: () => void;
}

const ExportSteps = ({ wallet, onClose }: ExportStepsProps): ReactNode => {
  const api = useApi();
  const [understood, setUnderstood] = useState(false);
  // Only here: the words are kept by no cache.
  const [mnemonic, setMnemonic] = useState<string | null>(null);
  const change = useApprovable<null>(`private.export ${wallet.privacyWalletId}`, async (_input, approval) => {
    const params = { id: wallet.privacyWalletId };
    const answer = await api.call(exportPrivacyWallet, { params, body: approval === undefined ? {} : { approval } });
    setMnemonic(answer.mnemonic);
  });
  if (mnemonic !== null) return <Words mnemonic={mnemonic} onClose={onClose} />;
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <div className="flex flex-col gap-4">
      <Alert tone="danger" title="Anybody with these words can take the money">
        They move every note of this wallet, on all chains, without Causeway and without a code. Show them to nobody.
        The export needs your approval and is written to the audit log.
      </Alert>
      <Checkbox
        label="Nobody else can see my screen."
        checked={understood}
        onChange={(event) => setUnderstood(event.target.checked)}
      />
      {change.error == null ? null : <ErrorState compact error={change.error} money="Nothing was shown." />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="danger" disabled={!understood} loading={change.busy} onClick={() => void change.start(null)}>
          Approve and show
        </Button>
      </div>
    </div>
  );
};

const Words = ({ mnemonic, onClose }: { readonly mnemonic: string; readonly onClose: () => void }): ReactNode => (
  <div className="flex flex-col gap-4">
    <p>Write the words down in this order and keep them offline. They are not shown again without a new approval.</p>
    <ol aria-label="Mnemonic" className="grid grid-cols-2 gap-2 sm:grid-cols-3">
      {mnemonic.split(" ").map((word, index) => (
        <li key={index} className="flex items-baseline gap-2 rounded-control border bg-sunken px-2 py-1.5">
          <span className="num w-5 text-right text-sm text-fg-3">{index + 1}</span>
          <code className="font-mono">{word}</code>
        </li>
      ))}
    </ol>
    <div className="flex items-center justify-between gap-2">
      <span className="inline-flex items-center text-sm text-fg-2">
        Copy the words <CopyButton value={mnemonic} label="Copy mnemonic" />
      </span>
      <Button variant="primary" onClick={onClose}>
        I have kept them
      </Button>
    </div>
  </div>
);
