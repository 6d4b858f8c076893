"use client";

import Link from "next/link";
import { useId, useState, type ReactNode } from "react";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { requestOtp } from "@/lib/contracts/swap";
import { codeOf } from "./api-error";
import { CodeEntry } from "./code-entry";
import type { SentCode } from "./types";

const CODE_DIGITS = 6;
/** The code itself was not taken; another has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set(["otp_invalid", "otp_expired", "otp_attempts_exceeded"]);

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

interface ApprovalDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description: string;
  /** What the code lets run. */
  readonly subject: { readonly operationId: string } | { readonly payoutId: string } | { readonly scheduleId: string };
  /** Where the money is while nothing was approved. */
  readonly money: string;
  /** The same after an approval that failed. */
  readonly moneyAfter?: (error: unknown) => string;
  readonly approval: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  /** The dialog stays open when it rejects, and shows `approval.error`. */
  readonly onApprove: (code: string) => Promise<void>;
  /** What waits, whole. */
  readonly children: ReactNode;
}

const useApproval = ({ subject, approval, onApprove }: ApprovalDialogProps) => {
  const otp = useApiMutation(requestOtp);
  const [sent, setSent] = useState<SentCode | null>(null);
  const [code, setCode] = useState("");
  const send = async (): Promise<void> => {
    approval.reset();
    const answer = await otp.mutateAsync({ body: subject }).catch(() => null);
    if (answer === null) return;
    setSent(answer);
    setCode("");
  };
  const approve = async (): Promise<void> => {
    if (code.length !== CODE_DIGITS) return;
    try {
      await onApprove(code);
    } catch (error) {
      if (REFUSED_CODE.has(codeOf(error))) setCode("");
    }
  };
  return { otp, sent, code, setCode, send, approve };
};

/** What waits, and the code that lets exactly this run. */
export const ApprovalDialog = (props: ApprovalDialogProps): ReactNode => {
  const { approval, money, moneyAfter = () => money } = props;
  const { otp, sent, code, setCode, send, approve } = useApproval(props);
  const formId = useId();
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={props.title}
      description={props.description}
      footer={
        <Button
          type="submit"
          form={formId}
          variant="primary"
          loading={approval.isPending}
          disabled={sent === null || code.length !== CODE_DIGITS}
        >
          Approve
        </Button>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void approve();
        }}
      >
        {props.children}
        {sent === null ? (
          <div>
            <Button variant="primary" loading={otp.isPending} onClick={() => void send()}>
              Send code
            </Button>
          </div>
        ) : (
          <CodeEntry
            sent={sent}
            code={code}
            onChange={setCode}
            onResend={() => void send()}
            sending={otp.isPending}
            disabled={approval.isPending}
          />
        )}
        {otp.error === null ? null : (
          <ErrorState
            compact
            error={otp.error}
            money={money}
            {...(codeOf(otp.error) === "otp_channel_missing" ? { action: SETTINGS_LINK } : {})}
          />
        )}
        {approval.error === null ? null : (
          <ErrorState compact error={approval.error} money={moneyAfter(approval.error)} />
        )}
      </form>
    </Dialog>
  );
};
