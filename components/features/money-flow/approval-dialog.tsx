"use client";

import { useId, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Form } from "@/components/ui/form";
import { codeOf } from "./api-error";
import { useCodeForm } from "./code-form";
import { isReady, proofOf, ProofField, useProofChoice } from "./proof-field";
import type { MoneyProof } from "./types";

/** The code itself was not taken; another has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set(["otp_invalid", "otp_expired", "otp_attempts_exceeded"]);

interface ApprovalDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: string;
  /** The record that the code approves. */
  readonly subject: { readonly operationId: string } | { readonly payoutId: string } | { readonly scheduleId: string };
  /** Where the money is while nothing was approved. */
  readonly money: string;
  /** The same after an approval that failed. */
  readonly moneyAfter?: (error: unknown) => string;
  readonly approval: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  /** The dialog stays open when it rejects, and shows `approval.error`. */
  readonly onApprove: (proof: MoneyProof) => Promise<void>;
  /** The whole record that waits for the approval. */
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

/** Shows the record that waits, and takes the code or second factor that approves exactly this record. */
export const ApprovalDialog = (props: ApprovalDialogProps): ReactNode => {
  const { approval, money, moneyAfter = () => money } = props;
  const { codes, choice, approve } = useApproval(props);
  const formId = useId();
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
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
        {approval.error === null ? null : (
          <ErrorState compact error={approval.error} money={moneyAfter(approval.error)} />
        )}
      </Form>
    </Dialog>
  );
};
