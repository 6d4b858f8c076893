"use client";

import { useState, type ReactNode } from "react";
import { passkeyProblem, signByPasskey } from "@/components/features/factors/browser-passkey";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { ApiError } from "@/lib/api-client/client";
import type { PasskeyAssertion, PasskeyRequest } from "@/lib/contracts/passkey-records";

interface PasskeyApprovalProps {
  /** Asks the service for a challenge that begins with the digest of what is approved. */
  readonly ask: () => Promise<{ readonly passkey?: PasskeyRequest | undefined }>;
  readonly busy: boolean;
  readonly onApprove: (means: { readonly passkey: PasskeyAssertion }) => Promise<unknown>;
  /** Of the button. */
  readonly label?: string;
  /** A sentence about the money or the change while it is not approved, for errors. */
  readonly money?: string;
}

/** Has a passkey sign a challenge that begins with the digest of what is approved. */
export const PasskeyApproval = ({
  ask,
  busy,
  onApprove,
  label = "Approve with a passkey",
  money = "Nothing was changed.",
}: PasskeyApprovalProps): ReactNode => {
  const [error, setError] = useState<unknown>(null);
  const [signing, setSigning] = useState(false);
  const approve = async (): Promise<void> => {
    setError(null);
    setSigning(true);
    try {
      const { passkey } = await ask();
      if (passkey !== undefined) await onApprove({ passkey: await signByPasskey(passkey) });
    } catch (failure) {
      setError(failure);
    } finally {
      setSigning(false);
    }
  };
  const problem = passkeyProblem(error);
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button variant="primary" loading={signing || busy} onClick={() => void approve()}>
          {label}
        </Button>
      </div>
      {error instanceof ApiError ? <ErrorState compact error={error} money={money} /> : null}
      {problem === null ? null : (
        <Alert tone="warning" title="It was not approved">
          {problem} {money}
        </Alert>
      )}
    </div>
  );
};
