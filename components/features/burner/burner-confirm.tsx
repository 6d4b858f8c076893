"use client";

import { useSyncExternalStore, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { Dialog } from "@/components/ui/dialog";
import { currentRequest, subscribeToRequests } from "./confirm-store";

const nothing = (): null => null;

/** The confirmation that a browser wallet would show in its own window: shows a request to the burner wallet and asks whether to sign. */
export const BurnerConfirm = (): ReactNode => {
  const request = useSyncExternalStore(subscribeToRequests, currentRequest, nothing);
  if (request === null) return null;
  return (
    <Dialog
      open
      onOpenChange={() => request.answer(false)}
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
