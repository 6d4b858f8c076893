"use client";

import { useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { ConfirmDialog, Dialog } from "@/components/ui/dialog";
import type { createApiKey } from "@/lib/contracts/api-keys";
import type { ResponseOf } from "@/lib/contracts/contract";

export type NewKey = ResponseOf<typeof createApiKey>;

interface SecretDialogProps {
  readonly made: NewKey | null;
  readonly onClose: () => void;
}

/** The secret, once. Closing asks until it was copied. */
export const SecretDialog = ({ made, onClose }: SecretDialogProps): ReactNode =>
  made === null ? null : <OpenSecretDialog key={made.id} made={made} onClose={onClose} />;

const OpenSecretDialog = ({ made, onClose }: { readonly made: NewKey; readonly onClose: () => void }): ReactNode => {
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const close = (): void => (copied ? onClose() : setAsking(true));
  return (
    <>
      <Dialog
        open
        onOpenChange={close}
        title={`The key “${made.name}” is ready`}
        footer={
          <Button variant={copied ? "primary" : "secondary"} onClick={close}>
            Close
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Alert tone="warning" title="Copy it now">
            The secret is shown only once; the service keeps a hash of it. Anybody who has it can use the key.
          </Alert>
          <code
            data-testid="api-key-secret"
            aria-label="Secret of the key"
            className="rounded-card border bg-sunken p-3 font-mono text-sm break-all select-all"
          >
            {made.secret}
          </code>
          <CopyButton
            value={made.secret}
            label="Copy secret"
            withText
            className="self-start"
            onCopied={() => setCopied(true)}
          />
        </div>
      </Dialog>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Have you stored the secret?"
        description="It was not copied with the button. Once this closes nobody can show it again; you would have to make a new key."
        confirmLabel="Close for good"
        cancelLabel="Go back"
        onConfirm={onClose}
      />
    </>
  );
};
