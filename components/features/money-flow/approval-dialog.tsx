"use client";

import { Ban, KeyRound } from "lucide-react";
import { parseAsBoolean, useQueryState } from "nuqs";
import { type ComponentProps, type ReactNode, useState } from "react";
import { ProofPart } from "@/components/features/approvals/proof-part";
import { isMistakable } from "@/components/features/warnings/warnings";
import { DecisionLink, useVotesOn } from "@/components/features/inbox/decision";
import { Button } from "@/components/ui/button";
import { ActionDialog, Dialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { ActionError } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import type { Warning } from "@/lib/contracts/warnings";
import { isRefusedProof } from "./api-error";
import { ReviewLayout, ReviewNote, ReviewSteps } from "./review-layout";
import type { MoneyProof } from "./types";

interface ApprovalDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** For the title: `payout` → "Review the payout". */
  readonly noun: string;
  /** Label of the button that approves, such as `Pay 20.00 USDC`. */
  readonly act: string;
  /** Says what exactly the proof approves. */
  readonly description: string;
  readonly subject:
    | { readonly operationId: string }
    | { readonly payoutId: string }
    | { readonly scheduleId: string };
  /** Warnings about the recipients, which the receipt shows. Default: none. */
  readonly warnings?: readonly Pick<Warning, "code">[];
  /** Says where the money is when an error occurs before the approval. */
  readonly money: string;
  /** Says where the money is after the approval failed. Default: `money`. */
  readonly moneyAfter?: (error: unknown) => string;
  readonly approval: {
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  /**
   * Approves with the proof. When the promise rejects, the dialog stays open and shows
   * `approval.error`.
   */
  readonly onApprove: (proof: MoneyProof) => Promise<void>;
  /** The complete record, so that the person sees everything that the code approves. */
  readonly children: ReactNode;
}

const ApprovalDialog = (props: ApprovalDialogProps): ReactNode => {
  const { noun, approval, money, moneyAfter = () => money, onApprove, warnings = [] } = props;
  const [compared, setCompared] = useState(false);
  const mustCompare = isMistakable(warnings);
  const approve = async (proof: MoneyProof): Promise<boolean> => {
    try {
      await onApprove(proof);
      return true;
    } catch (error) {
      return !isRefusedProof(error);
    }
  };
  return (
    <Dialog
      open={props.open}
      onClose={props.onClose}
      title={`Review the ${noun}`}
      description={<ReviewSteps noun={noun} at={approval.isPending ? "approve" : "review"} />}
      size="xl"
    >
      <ReviewLayout
        receipt={props.children}
        approve={
          <>
            {mustCompare ? (
              <Checkbox
                label="I have compared each whole address with its owner."
                checked={compared}
                onChange={(event) => setCompared(event.target.checked)}
              />
            ) : null}
            {mustCompare && !compared ? null : (
              <ProofPart
                act={props.act}
                subject={props.subject}
                busy={approval.isPending}
                money={money}
                onApprove={approve}
              />
            )}
            <ActionError error={approval.error} money={moneyAfter(approval.error)} />
            <ReviewNote>{props.description}</ReviewNote>
          </>
        }
      />
    </Dialog>
  );
};

interface ApproveActionProps extends Omit<ApprovalDialogProps, "open" | "onClose"> {
  readonly mayApprove: boolean;
  /** Id of the record when people may have to vote on it; undefined for records without votes. */
  readonly votedId?: string;
  readonly done: string;
}

/**
 * The button and the dialog that approve a record, or a link to its votes. The page's address
 * stores that the dialog is open, so a reload keeps it open and the form that created the record
 * can link to it.
 */
export const ApproveAction = ({
  mayApprove,
  votedId,
  done,
  onApprove,
  ...dialog
}: ApproveActionProps): ReactNode => {
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const votes = useVotesOn(votedId ?? "", mayApprove && votedId !== undefined);
  const setOpen = (open: boolean): void =>
    void setApproving(open ? true : null, { history: "replace" });
  if (!mayApprove) return null;
  if (votes.decision !== undefined) return <DecisionLink id={votes.decision.id} />;
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        <KeyRound aria-hidden /> Review and approve
      </Button>
      <ApprovalDialog
        {...dialog}
        open={approving && (votedId === undefined || votes.isKnown)}
        onClose={() => setOpen(false)}
        onApprove={async (proof) => {
          await onApprove(proof);
          setOpen(false);
          toast.success(done);
        }}
      />
    </>
  );
};

interface CancelActionProps extends Pick<
  ComponentProps<typeof ActionDialog>,
  "title" | "confirmLabel" | "action" | "money"
> {
  /** Text of the button that opens the dialog; default: the text of the confirming button. */
  readonly label?: string;
  readonly text: string;
  readonly done: string;
  readonly cancel: () => Promise<void>;
}

export const CancelAction = ({
  label,
  text,
  done,
  cancel,
  ...dialog
}: CancelActionProps): ReactNode => {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <Ban aria-hidden /> {label ?? dialog.confirmLabel}
      </Button>
      <ActionDialog
        {...dialog}
        open={asking}
        onClose={() => setAsking(false)}
        description={<p>{text}</p>}
        cancelLabel="Keep it"
        onConfirm={async () => {
          await cancel();
          toast.success(done);
        }}
      />
    </>
  );
};
