"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useState, type ReactNode } from "react";
import { useForm, type Control } from "react-hook-form";
import { z } from "zod";
import { codeForm } from "@/components/features/money-flow/code-form";
import { Button } from "@/components/ui/button";
import { ControlField, Form, TextField } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";

type CodeValues = z.infer<typeof codeForm>;

const recoveryForm = z.object({ code: z.string().trim().min(1, "Type a recovery code.") });

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
  <TypedApproval busy={busy} label={label} aside={aside} schema={codeForm} onApprove={(totp) => onApprove({ totp })}>
    {(control) => (
      <ControlField control={control} name="code" label="Code of the authenticator app">
        {({ value, onValueChange }) => <OtpInput value={value} onChange={onValueChange} disabled={busy} autoFocus />}
      </ControlField>
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
      schema={recoveryForm}
      onApprove={(recoveryCode) => onApprove({ recoveryCode })}
    >
      {(control) => (
        <TextField
          control={control}
          name="code"
          label="Recovery code"
          hint="Each code is good once."
          input={{ autoFocus: true }}
        />
      )}
    </TypedApproval>
  );
};

interface TypedApprovalProps {
  readonly busy: boolean;
  readonly label: string;
  readonly aside: ReactNode;
  readonly schema: z.ZodType<CodeValues, CodeValues>;
  /** False where the code was refused: the field is emptied. */
  readonly onApprove: (code: string) => Promise<boolean>;
  readonly children: (control: Control<CodeValues>) => ReactNode;
}

const TypedApproval = ({ busy, label, aside, schema, onApprove, children }: TypedApprovalProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(schema), defaultValues: { code: "" } });
  const approve = async ({ code }: CodeValues): Promise<void> => {
    if (!(await onApprove(code))) form.reset({ code: "" });
  };
  return (
    <Form form={form} onSubmit={approve} className="flex flex-col gap-4">
      {children(form.control)}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" loading={busy} disabled={!schema.safeParse(form.watch()).success}>
          {label}
        </Button>
        {aside}
      </div>
    </Form>
  );
};
