"use client";

import { useState, type ReactNode } from "react";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { requestOtp } from "@/lib/contracts/swap";
import type { Means } from "./use-approvable";

interface PasskeyApprovalProps {
  readonly approvalId: string;
  readonly busy: boolean;
  readonly onApprove: (means: Means) => Promise<boolean>;
}

/** Has a passkey sign a challenge that begins with the digest of the change. */
export const PasskeyApproval = ({ approvalId, busy, onApprove }: PasskeyApprovalProps): ReactNode => {
  const ask = useApiMutation(requestOtp);
  const [problem, setProblem] = useState<string | null>(null);
  const [signing, setSigning] = useState(false);
  const approve = async (): Promise<void> => {
    setProblem(null);
    setSigning(true);
    try {
      const { passkey } = await ask.mutateAsync({ body: { approvalId, channel: "passkey" } });
      if (passkey !== undefined) await onApprove({ passkey: await signByPasskey(passkey) });
    } catch (error) {
      setProblem(passkeyProblem(error));
    } finally {
      setSigning(false);
    }
  };
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button variant="primary" loading={signing || busy} onClick={() => void approve()}>
          Approve with a passkey
        </Button>
      </div>
      {ask.isError ? <ErrorState compact error={ask.error} money="Nothing was changed." /> : null}
      {problem === null ? null : (
        <Alert tone="warning" title="It was not approved">
          {problem} Nothing was changed.
        </Alert>
      )}
    </div>
  );
};
