"use client";

import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";

const DIGITS = 6;

interface AppCodeApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (means: { readonly totp: string }) => Promise<boolean>;
  /** Of the button. */
  readonly label?: string;
  /** A further way, beside the button. */
  readonly aside?: ReactNode;
}

/** Takes a code of the authenticator app. */
export const AppCodeApproval = ({
  busy,
  onApprove,
  label = "Approve",
  aside = null,
}: AppCodeApprovalProps): ReactNode => (
  <TypedApproval
    busy={busy}
    label={label}
    aside={aside}
    isWhole={(code) => code.length === DIGITS}
    onApprove={(totp) => onApprove({ totp })}
  >
    {(code, setCode) => (
      <Field label="Code of the authenticator app">
        <OtpInput value={code} onChange={setCode} disabled={busy} autoFocus />
      </Field>
    )}
  </TypedApproval>
);

interface AppApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (means: { readonly totp: string } | { readonly recoveryCode: string }) => Promise<boolean>;
}

/** Takes a code of the authenticator app, or a recovery code in its place. */
export const AppApproval = ({ busy, onApprove }: AppApprovalProps): ReactNode => {
  const [byRecovery, setByRecovery] = useState(false);
  const swap = (
    <Button variant="ghost" onClick={() => setByRecovery(!byRecovery)}>
      {byRecovery ? "Use the app" : "Use a recovery code"}
    </Button>
  );
  if (!byRecovery) return <AppCodeApproval busy={busy} onApprove={onApprove} aside={swap} />;
  return (
    <TypedApproval
      busy={busy}
      label="Approve"
      aside={swap}
      isWhole={(code) => code.trim() !== ""}
      onApprove={(code) => onApprove({ recoveryCode: code.trim() })}
    >
      {(code, setCode) => (
        <Field label="Recovery code" hint="Each code is good once.">
          <Input value={code} onChange={(event) => setCode(event.target.value)} autoFocus />
        </Field>
      )}
    </TypedApproval>
  );
};

interface TypedApprovalProps {
  readonly busy: boolean;
  readonly label: string;
  readonly aside: ReactNode;
  readonly isWhole: (code: string) => boolean;
  /** False where the code was refused: the field is emptied. */
  readonly onApprove: (code: string) => Promise<boolean>;
  readonly children: (code: string, setCode: (code: string) => void) => ReactNode;
}

const TypedApproval = ({ busy, label, aside, isWhole, onApprove, children }: TypedApprovalProps): ReactNode => {
  const [code, setCode] = useState("");
  const approve = async (): Promise<void> => {
    if (!(await onApprove(code))) setCode("");
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        // In a dialog it is a child of the form behind it, as far as React's events go.
        event.stopPropagation();
        void approve();
      }}
    >
      {children(code, setCode)}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" loading={busy} disabled={!isWhole(code)}>
          {label}
        </Button>
        {aside}
      </div>
    </form>
  );
};
