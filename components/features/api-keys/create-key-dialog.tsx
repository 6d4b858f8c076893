"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import type { BodyInput } from "@/lib/contracts/contract";
import { SCOPE_PRESETS } from "./presets";
import type { NewKey } from "./secret-dialog";

interface CreateKeyDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (key: NewKey) => void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const NAME_MAX = 80;

const EXPIRIES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

const toBody = (name: string, presetId: string, expiry: string): BodyInput<typeof createApiKey> => {
  const preset = SCOPE_PRESETS.find((candidate) => candidate.id === presetId);
  const days = Number(expiry);
  return {
    name: name.trim(),
    ...(preset === undefined ? {} : { scopes: [...preset.scopes] }),
    ...(Number.isNaN(days) ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
  };
};

export const CreateKeyDialog = ({ open, onOpenChange, onCreated }: CreateKeyDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title="New API key" size="lg">
    <CreateKeyForm onCreated={onCreated} onCancel={() => onOpenChange(false)} />
  </Dialog>
);

interface FormProps {
  readonly onCreated: (key: NewKey) => void;
  readonly onCancel: () => void;
}

const CreateKeyForm = ({ onCreated, onCancel }: FormProps): ReactNode => {
  const [name, setName] = useState("");
  const [preset, setPreset] = useState("read");
  const [expiry, setExpiry] = useState("90");
  const [tried, setTried] = useState(false);
  const create = useApiMutation(createApiKey);
  const queryClient = useQueryClient();
  const labelId = useId();
  const nameMissing = name.trim() === "";

  const submit = async (): Promise<void> => {
    setTried(true);
    if (nameMissing) return;
    try {
      const key = await create.mutateAsync({ body: toBody(name, preset, expiry) });
      onCreated(key);
      await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
    } catch {
      // The mutation keeps the error; it is shown below.
    }
  };

  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label="Name"
        hint="Which program uses it, for instance “Shop backend”."
        error={tried && nameMissing ? "Give the key a name." : null}
      >
        <Input value={name} maxLength={NAME_MAX} onChange={(event) => setName(event.target.value)} autoFocus />
      </Field>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          It may
        </span>
        <RadioCards
          labelledBy={labelId}
          value={preset}
          onValueChange={setPreset}
          options={SCOPE_PRESETS.map(({ id, label, description }) => ({ value: id, label, description }))}
        />
      </div>
      <Field label="Expires" className="max-w-48">
        <Select value={expiry} onValueChange={setExpiry} options={EXPIRIES} />
      </Field>
      {create.isError ? <ErrorState compact error={create.error} money="No key was made." /> : null}
      <ApiSnippet
        method="POST"
        path="/auth/api-keys"
        auth="bearer"
        body={toBody(name.trim() === "" ? "My key" : name, preset, expiry)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create key
        </Button>
      </div>
    </form>
  );
};
