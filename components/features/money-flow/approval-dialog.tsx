"use client";

import { Ban, KeyRound } from "lucide-react";
import { parseAsBoolean, useQueryState } from "nuqs";
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { DecisionLink, useVotesOn } from "@/components/features/inbox/decision";
import { Button } from "@/components/ui/button";
import { ActionDialog, Dialog } from "@/components/ui/dialog";
import { ActionError } from "@/components/ui/states";
import { Form } from "@/components/ui/form";
import { toast } from "@/components/ui/toast";
import { codeOf } from "./api-error";
import { useCodeForm } from "./code-form";
import { isReady, ProofField, proofOf, useProofChoice } from "./proof-field";
import type { MoneyProof } from "./types";

/** Errors after which another code has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set([
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
]);

interface ApprovalDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: string;
  readonly subject:
    | { readonly operationId: string }
    | { readonly payoutId: string }
    | { readonly scheduleId: string };
  /** Says where the money is when an error occurs before the approval. */
  readonly money: string;
  /** Says where the money is after the approval failed. Default: `money`. */
  readonly moneyAfter?: (error: unknown) => string;
  readonly approval: {
    readonly isPending: boolean;
    readonly error: Error | null;
    readonly reset: () => void;
  };
  /** If it rejects, the dialog stays open and shows `approval.error`. */
  readonly onApprove: (proof: MoneyProof) => Promise<void>;
  /** The complete record, so that the person sees everything that the code approves. */
  readonly children: ReactNode;
}

const useApproval = ({ subject, approval, onApprove }: ApprovalDialogProps) => {
  const codes = useCodeForm(subject);
  const send = async (): Promise<void> => {
    approval.reset();
    await codes.send();
  };
  const approve = async (proof: MoneyProof): Promise<void> => {
    try {
      await onApprove(proof);
    } catch (error) {
      if (REFUSED_CODE.has(codeOf(error))) codes.clear();
    }
  };
  const choice = useProofChoice(() => {
    approval.reset();
    codes.clear();
  });
  return { codes: { ...codes, send }, choice, approve };
};

const ApprovalDialog = (props: ApprovalDialogProps): ReactNode => {
  const { approval, money, moneyAfter = () => money } = props;
  const { codes, choice, approve } = useApproval(props);
  const formId = useId();
  return (
    <Dialog
      open={props.open}
      onClose={props.onClose}
      title={props.title}
      description={props.description}
      footer={
        choice.means === "passkey" ? undefined : (
          <Button
            type="submit"
            form={formId}
            variant="primary"
            loading={approval.isPending}
            disabled={!isReady(choice, codes)}
          >
            Approve
          </Button>
        )
      }
    >
      <Form
        id={formId}
        form={codes.form}
        onSubmit={({ code }) => approve(proofOf(choice.means, code))}
        className="flex flex-col gap-4"
      >
        {props.children}
        <ProofField
          codes={codes}
          choice={choice}
          subject={props.subject}
          busy={approval.isPending}
          money={money}
          onApprove={approve}
        />
        <ActionError error={approval.error} money={moneyAfter(approval.error)} />
      </Form>
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
        <KeyRound aria-hidden /> Approve …
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
