"use client";

import { useState, type ReactNode } from "react";
import { LookAlikeAlert } from "@/components/features/transfer/recipient-notes";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox } from "@/components/ui/field";
import { codeOf } from "@/components/features/money-flow/api-error";
import { SendReceipt, type SendTerms } from "./receipt";
import { isSmallSet, SmallSetAlert, SmallSetDialog } from "./small-set";
import type { CreateMove, MoveRequest } from "./use-create-move";

interface ReviewDialogProps {
  readonly terms: SendTerms;
  readonly move: CreateMove;
  /** Below this set a transfer needs a second confirmation. */
  readonly min: number;
  readonly request: (acceptsSmallSet: boolean) => MoveRequest;
  readonly onClose: () => void;
}

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether it was accepted is not known. Trying again is safe: the money moves once."
    : "Nothing was sent.";

/** The receipt, whole. Going on creates the operation; nothing moves before a code approves it. */
export const ReviewDialog = ({ terms, move, min, request, onClose }: ReviewDialogProps): ReactNode => {
  const { recipient, pool, action } = terms;
  const isSmall = action === "transfer" && isSmallSet(pool.anonymitySet, min);
  const [accepted, setAccepted] = useState(false);
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={`Review the ${action}`}
      description="Nothing moves before you approve it with a one-time code."
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            variant="primary"
            loading={move.pending}
            disabled={isSmall && !accepted}
            onClick={() => void move.create(request(accepted))}
          >
            Confirm and get code
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {recipient.as === "none" || recipient.lookAlike === null || terms.toWalletName !== null ? null : (
          <LookAlikeAlert address={recipient.address} lookAlike={recipient.lookAlike} />
        )}
        <SendReceipt terms={terms} whole />
        {isSmall ? (
          <>
            <SmallSetAlert size={pool.anonymitySet} min={min} />
            <Checkbox
              label="I accept that so few deposits hide it."
              checked={accepted}
              onChange={(event) => setAccepted(event.target.checked)}
            />
          </>
        ) : null}
        {move.error == null ? null : <ErrorState compact error={move.error} money={moneyAfter(move.error)} />}
      </div>
      <SmallSetDialog size={move.smallSet} onClose={move.refuseSmallSet} onAccept={() => move.create(request(true))} />
    </Dialog>
  );
};
