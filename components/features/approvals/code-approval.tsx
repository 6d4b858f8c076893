"use client";

import type { ReactNode } from "react";
import { CodeField, CodeSendError, useCodeForm } from "@/components/features/money-flow/code-form";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/form";
import type { Means } from "./use-approvable";

interface CodeApprovalProps {
  readonly approvalId: string;
  readonly busy: boolean;
  readonly onApprove: (means: Means) => Promise<boolean>;
  /** Shown when the person has no verified address. */
  readonly missing: ReactNode;
}

/** Has a code mailed that approves the change, and takes it. */
export const CodeApproval = ({ approvalId, busy, onApprove, missing }: CodeApprovalProps): ReactNode => {
  const codes = useCodeForm({ approvalId });
  const approve = async ({ code }: { readonly code: string }): Promise<void> => {
    if (!(await onApprove({ otp: code }))) codes.clear();
  };
  return (
    <Form form={codes.form} onSubmit={approve} className="flex flex-col gap-4">
      <CodeField codes={codes} disabled={busy} />
      {codes.sent === null ? null : (
        <div>
          <Button type="submit" variant="primary" loading={busy} disabled={!codes.isWhole}>
            Approve
          </Button>
        </div>
      )}
      <CodeSendError error={codes.sendError} money="Nothing was changed." missing={missing} />
    </Form>
  );
};
