"use client";

import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { CodeBlock } from "@/components/ui/code-block";
import { CopyButton } from "@/components/ui/copy-button";
import { Dialog } from "@/components/ui/dialog";
import { Tabs } from "@/components/ui/tabs";
import type { NewEndpoint } from "./endpoint";
import { VERIFY_SNIPPETS } from "./verify-snippets";

/** The signing secret, once, and how a receiver uses it. */
export const SigningSecretDialog = ({
  made,
  onClose,
}: {
  readonly made: NewEndpoint | null;
  readonly onClose: () => void;
}): ReactNode =>
  made === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title="The signing secret"
      size="lg"
      footer={
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <Alert tone="warning" title="Copy it now">
          It is shown this once. If it gets lost, rotate it: the old one keeps signing until your receiver has the new
          one.
        </Alert>
        <code
          data-testid="webhook-secret"
          aria-label="Signing secret"
          className="rounded-card border bg-sunken p-3 font-mono text-sm break-all select-all"
        >
          {made.secret}
        </code>
        <CopyButton value={made.secret} label="Copy secret" withText className="self-start" />
        <Tabs
          label="Verify a signature"
          tabs={VERIFY_SNIPPETS.map(({ id, label, code }) => ({
            value: id,
            label,
            content: <CodeBlock label={`${label} code`} code={code} />,
          }))}
        />
      </div>
    </Dialog>
  );
