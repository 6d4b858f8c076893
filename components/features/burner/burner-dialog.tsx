"use client";

import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/marks";
import { Dialog } from "@/components/ui/dialog";
import type { currentRequest } from "./confirm-store";

interface BurnerDialogProps {
  readonly request: NonNullable<ReturnType<typeof currentRequest>>;
}

export const BurnerDialog = ({ request }: BurnerDialogProps): ReactNode => {
  return (
    <Dialog
      onClose={() => request.answer(false)}
      title={request.title}
      description={
        <>
          Burner wallet – development only
          {request.chainId === null ? null : (
            <>
              {" · "}
              <ChainName chainId={request.chainId} />
            </>
          )}
        </>
      }
      footer={
        <>
          <Button onClick={() => request.answer(false)}>Reject</Button>
          <Button variant="primary" onClick={() => request.answer(true)}>
            Confirm
          </Button>
        </>
      }
    >
      <p className="pb-2 text-sm text-fg-2">
        Account <code className="font-mono break-all text-fg">{request.account}</code>
      </p>
      <pre
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-card border bg-sunken p-3 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {request.text}
      </pre>
    </Dialog>
  );
};
