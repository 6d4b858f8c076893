"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { type ComponentProps, type ReactNode, useMemo, useState } from "react";
import { type Control, useForm } from "react-hook-form";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ChangeDialog, ChangeForm } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { usePolicies } from "@/components/features/policies/use-policies";
import { useApi, useCache } from "@/components/features/session/use-api";
import { WarningList } from "@/components/features/warnings/warnings";
import { Alert } from "@/components/ui/alert";
import { Usd } from "@/components/ui/amount";
import { Button, CopyButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { ActionDialog, Dialog } from "@/components/ui/dialog";
import { CONTROL_LOOKS, useFieldProps } from "@/components/ui/field";
import { ControlField, RadioField, TextField, DialogForm } from "@/components/ui/form";
import { Select } from "@/components/ui/select";
import { toast } from "@/components/ui/toast";
import { createApiKey, listApiKeys, updateApiKey } from "@/lib/api-client/calls.gen";
import type { rotateApiKey } from "@/lib/contracts/api-keys";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import type { Warning } from "@/lib/contracts/warnings";
import { readOrTyped } from "@/lib/core/read-amount";
import {
  keyForm,
  type KeyValues,
  movesMoney,
  presetOf,
  SCOPE_PRESETS,
  toKeyBody,
  toKeyChange,
  valuesOfKey,
} from "./key-form";
import type { ApiKey } from "./use-api-keys";

interface CreateKeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (key: NewKey) => void;
}

const EMPTY: KeyValues = {
  name: "",
  preset: "read",
  expiry: "90",
  otp: "required",
  dailyCapUsd: "",
  recipients: "",
  networks: "",
};

export const CreateKeyDialog = ({ onClose, onCreated }: CreateKeyDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const projectCap = usePolicies().data?.dailyCapUsd;
  const resolver = useMemo(() => zodResolver(keyForm(() => projectCap)), [projectCap]);
  const form = useForm<KeyValues>({ resolver, defaultValues: EMPTY });
  const [shownAt] = useState(Date.now);
  const create = useApprovable<BodyInput<typeof createApiKey>>(
    "api_key.create",
    async (body, proof) => {
      const key = await api.call(createApiKey, { body: { ...body, ...proof } });
      onCreated(key);
      await cache.refresh(listApiKeys);
    },
  );
  const values = form.watch();
  return (
    <ChangeForm
      change={create}
      onClose={onClose}
      title="New API key"
      size="lg"
      long
      form={form}
      onSubmit={(typed) => create.start(toKeyBody(typed, Date.now()))}
      money="No key was made."
      act="Create key"
      snippet={
        <ApiSnippet
          call={createApiKey}
          auth="bearer"
          body={toKeyBody(
            values.name.trim() === "" ? { ...values, name: "My key" } : values,
            shownAt,
          )}
        />
      }
    >
      <KeyFields control={form.control} values={values} projectCap={projectCap} />
    </ChangeForm>
  );
};

interface EditKeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

const keptOf = ({ scopes, expiresAt }: ApiKey) => ({
  expiry: expiresAt === null ? "As it is: never" : `As it is: ${expiresAt.slice(0, 10)}`,
  scopes: scopes.join(", "),
});

/** Edits a key. A change that extends the key's rights needs an approval in this dialog. */
export const EditKeyDialog = ({ apiKey, onClose }: EditKeyDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const projectCap = usePolicies().data?.dailyCapUsd;
  const [shownAt] = useState(Date.now);
  const resolver = useMemo(() => {
    // The key's current limit may be above the project's, so only a changed limit is checked.
    const capOf = (typed: KeyValues) =>
      readOrTyped(typed.dailyCapUsd) === apiKey.dailyCapUsd ? undefined : projectCap;
    return zodResolver(keyForm(capOf));
  }, [apiKey, projectCap]);
  const form = useForm<KeyValues>({ resolver, defaultValues: valuesOfKey(apiKey) });
  const values = form.watch();
  const change = useApprovable<BodyInput<typeof updateApiKey>>(
    `api_key.edit ${apiKey.id}`,
    async (body, proof) => {
      const options = {
        params: { id: apiKey.id },
        body: { ...body, ...proof },
      };
      const { warnings } = await api.call(updateApiKey, options);
      toast.success(`The key “${values.name.trim()}” was changed.`);
      if (warnings.length === 0) onClose();
      else setSaved(warnings);
      await cache.refresh(listApiKeys);
    },
  );
  const [saved, setSaved] = useState<readonly Warning[] | null>(null);
  const body = toKeyChange(apiKey, values, shownAt);
  const submit = async (typed: KeyValues): Promise<void> => {
    const changed = toKeyChange(apiKey, typed, Date.now());
    if (changed !== null) await change.start(changed);
  };
  const { scopes, expiry } = keptOf(apiKey);
  const isPreset = presetOf(apiKey.scopes) !== undefined;
  return (
    <ChangeDialog
      change={change}
      onClose={onClose}
      title={`Edit “${apiKey.name}”`}
      description="It counts within a second. Letting the key do less counts at once; letting it do more needs your approval."
      size="lg"
    >
      {saved === null ? (
        <DialogForm
          long
          form={form}
          error={change.error}
          onSubmit={submit}
          money="The key is as it was."
          act="Save"
          busy={change.busy}
          disabled={body === null}
          onCancel={onClose}
          snippet={
            body === null ? null : (
              <ApiSnippet
                call={updateApiKey}
                params={{ id: apiKey.id }}
                auth="bearer"
                body={body}
              />
            )
          }
        >
          <KeyFields
            control={form.control}
            values={values}
            projectCap={projectCap}
            kept={{ expiry, ...(isPreset ? {} : { scopes }) }}
          />
        </DialogForm>
      ) : (
        <div className="flex flex-col gap-4">
          <KeyWarnings warnings={saved} />
          <div className="flex justify-end">
            <Button variant="primary" onClick={onClose}>
              Close
            </Button>
          </div>
        </div>
      )}
    </ChangeDialog>
  );
};

interface KeyFieldsProps {
  readonly control: Control<KeyValues>;
  readonly values: KeyValues;
  readonly projectCap: string | undefined;
  /**
   * For an existing key: the descriptions of its current scopes and expiry. Each is offered as the
   * option that keeps the current value.
   */
  readonly kept?: { readonly scopes?: string; readonly expiry: string };
}

const NAME_MAX = 80;

const EXPIRIES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

const presetsOf = (kept: string | undefined) => [
  ...(kept === undefined ? [] : [{ value: "kept", label: "As it is", description: kept }]),
  ...SCOPE_PRESETS.map(({ id, label, description }) => ({ value: id, label, description })),
];

const KeyFields = ({ control, values, projectCap, kept }: KeyFieldsProps): ReactNode => {
  return (
    <>
      <TextField
        control={control}
        name="name"
        label="Name"
        hint="Which program uses it, for instance “Shop backend”."
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <RadioField
        control={control}
        name="preset"
        label="Scopes"
        options={presetsOf(kept?.scopes)}
      />
      {movesMoney(values) ? (
        <PolicyFields control={control} values={values} projectCap={projectCap} />
      ) : null}
      <ControlField
        control={control}
        name="networks"
        label="Allowed networks"
        hint="Addresses or networks such as 203.0.113.0/24, one a line. Empty: any. From elsewhere the key is refused."
      >
        {({ value, onValueChange }) => (
          <Lines
            rows={2}
            placeholder="203.0.113.0/24"
            value={value}
            onChange={(event) => onValueChange(event.target.value)}
          />
        )}
      </ControlField>
      <ControlField control={control} name="expiry" label="Expires" className="max-w-60">
        {(bound) => (
          <Select
            {...bound}
            options={
              kept === undefined
                ? EXPIRIES
                : [{ value: "kept", label: kept.expiry }, ...EXPIRIES]
            }
          />
        )}
      </ControlField>
    </>
  );
};

interface PolicyFieldsProps {
  readonly control: Control<KeyValues>;
  readonly values: KeyValues;
  /**
   * US dollars per day that all keys of the project together may move without a code; undefined
   * while it loads.
   */
  readonly projectCap: string | undefined;
}

const POLICIES = [
  {
    value: "required",
    label: "A one-time code each time",
    description: "The code goes to you; somebody has to type it for each movement.",
  },
  {
    value: "exempt",
    label: "No code, up to a limit a day",
    description:
      "For programs that run without a person. It needs your approval once. Above the limit a code is needed, or the operation waits for you.",
  },
] as const;

const PolicyFields = ({ control, values, projectCap }: PolicyFieldsProps): ReactNode => {
  return (
    <>
      <RadioField
        control={control}
        name="otp"
        label="Codes for what it moves"
        options={POLICIES}
      />
      {values.otp === "exempt" ? (
        <TextField
          control={control}
          name="dailyCapUsd"
          label="Limit a day (US dollars)"
          hint={
            <>
              Counted per UTC day. Tokens without a known price always need a code.
              {projectCap === undefined ? null : (
                <>
                  {" "}
                  At most <Usd value={projectCap} />: the project&apos;s daily cap, which counts
                  all keys together and can be changed in the settings.
                </>
              )}
            </>
          }
          className="max-w-72"
          input={{ numeric: true, placeholder: "250" }}
        />
      ) : null}
      <ControlField
        control={control}
        name="recipients"
        label="Allowed recipients"
        hint="Addresses, one a line. Empty: any address. A key that leaks can then send nowhere else."
      >
        {({ value, onValueChange }) => (
          <Lines
            rows={3}
            placeholder="0x…"
            value={value}
            onChange={(event) => onValueChange(event.target.value)}
          />
        )}
      </ControlField>
    </>
  );
};

const Lines = (props: ComponentProps<"textarea">): ReactNode => {
  const field = useFieldProps({});
  return (
    <textarea
      autoComplete="off"
      spellCheck={false}
      {...props}
      {...field}
      className={cn(CONTROL_LOOKS, "h-auto resize-y py-1.5 font-mono text-sm")}
    />
  );
};

/**
 * A key with its secret, which is shown only once. Either the key is new, or it has a new secret.
 */
export type NewKey = ResponseOf<typeof rotateApiKey> & {
  readonly warnings?: readonly Warning[];
};

interface SecretDialogProps {
  readonly made: NewKey | null;
  readonly onClose: () => void;
}

/** Shows a key's new secret. Asks before it closes, unless the person has copied the secret. */
export const SecretDialog = ({ made, onClose }: SecretDialogProps): ReactNode =>
  made === null ? null : <OpenSecretDialog key={made.id} made={made} onClose={onClose} />;

const OpenSecretDialog = ({
  made,
  onClose,
}: {
  readonly made: NewKey;
  readonly onClose: () => void;
}): ReactNode => {
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const close = (): void => (copied ? onClose() : setAsking(true));
  return (
    <>
      <Dialog
        onClose={close}
        title={`The key “${made.name}” is ready`}
        footer={
          <Button variant={copied ? "primary" : "secondary"} onClick={close}>
            Close
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Alert tone="warning" title="Copy it now">
            The secret is shown only once; the service keeps a hash of it. Anybody who has it
            can use the key.
          </Alert>
          <code
            data-testid="api-key-secret"
            aria-label="Secret of the key"
            className="rounded-card border bg-sunken p-3 font-mono text-sm break-all select-all"
          >
            {made.secret}
          </code>
          <CopyButton
            value={made.secret}
            label="Copy secret"
            withText
            className="self-start"
            onCopied={() => setCopied(true)}
          />
          <KeyWarnings warnings={made.warnings ?? []} />
        </div>
      </Dialog>
      <ActionDialog
        open={asking}
        onClose={() => setAsking(false)}
        title="Have you stored the secret?"
        description="It was not copied with the button. Once this closes nobody can show it again; you would have to make a new key."
        confirmLabel="Close for good"
        cancelLabel="Go back"
        onConfirm={onClose}
      />
    </>
  );
};

const KeyWarnings = ({ warnings }: { readonly warnings: readonly Warning[] }): ReactNode => (
  <WarningList title="Look at the recipients of this key again" warnings={warnings} />
);
