"use client";

import { useState, type ReactNode } from "react";
import { codeOf } from "@/components/features/money-flow/api-error";
import { CodeEntry } from "@/components/features/money-flow/code-entry";
import type { SentCode } from "@/components/features/money-flow/types";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { requestOtp } from "@/lib/contracts/swap";
import type { Means } from "./use-approvable";

const CODE_DIGITS = 6;

interface CodeApprovalProps {
  readonly approvalId: string;
  readonly busy: boolean;
  readonly onApprove: (means: Means) => Promise<boolean>;
  /** What to do without a verified address. */
  readonly missing: ReactNode;
}

/** Has a code mailed that approves the change, and takes it. */
export const CodeApproval = ({ approvalId, busy, onApprove, missing }: CodeApprovalProps): ReactNode => {
  const otp = useApiMutation(requestOtp);
  const [sent, setSent] = useState<SentCode | null>(null);
  const [code, setCode] = useState("");
  const send = async (): Promise<void> => {
    const answer = await otp.mutateAsync({ body: { approvalId } }).catch(() => null);
    if (answer === null) return;
    setSent(answer);
    setCode("");
  };
  const approve = async (): Promise<void> => {
    if (code.length === CODE_DIGITS && !(await onApprove({ otp: code }))) setCode("");
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void approve();
      }}
    >
      {sent === null ? (
        <div>
          <Button variant="primary" loading={otp.isPending} onClick={() => void send()}>
            Send code
          </Button>
        </div>
      ) : (
        <>
          <CodeEntry
            sent={sent}
            code={code}
            onChange={setCode}
            onResend={() => void send()}
            sending={otp.isPending}
            disabled={busy}
          />
          <div>
            <Button type="submit" variant="primary" loading={busy} disabled={code.length !== CODE_DIGITS}>
              Approve
            </Button>
          </div>
        </>
      )}
      {otp.error === null ? null : (
        <ErrorState
          compact
          error={otp.error}
          money="Nothing was changed."
          {...(codeOf(otp.error) === "otp_channel_missing" ? { action: missing } : {})}
        />
      )}
    </form>
  );
};
