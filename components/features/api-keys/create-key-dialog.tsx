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
import { keyErrors, movesMoney, toKeyBody, type KeyValues } from "./key-form";
import { PolicyFields } from "./policy-fields";
import { SCOPE_PRESETS } from "./presets";
import type { NewKey } from "./secret-dialog";

interface CreateKeyDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (key: NewKey) => void;
}

const NAME_MAX = 80;

const EXPIRIES = [
  { value: "never", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

const EMPTY: KeyValues = {
  name: "",
  preset: "read",
  expiry: "90",
  otp: "required",
  dailyCapUsd: "",
  recipients: "",
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
  const [values, setValues] = useState(EMPTY);
  const [shownAt] = useState(Date.now);
  const [tried, setTried] = useState(false);
  const create = useApiMutation(createApiKey);
  const queryClient = useQueryClient();
  const labelId = useId();
  const errors = keyErrors(values);
  const change = (part: Partial<KeyValues>): void => setValues((before) => ({ ...before, ...part }));

  const submit = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(errors).length > 0) return;
    try {
      const key = await create.mutateAsync({ body: toKeyBody(values, Date.now()) });
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
      <Field label="Name" hint="Which program uses it, for instance “Shop backend”." error={tried ? errors.name : null}>
        <Input
          value={values.name}
          maxLength={NAME_MAX}
          onChange={(event) => change({ name: event.target.value })}
          autoFocus
        />
      </Field>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          It may
        </span>
        <RadioCards
          labelledBy={labelId}
          value={values.preset}
          onValueChange={(id) => change({ preset: SCOPE_PRESETS.find((preset) => preset.id === id)?.id ?? "read" })}
          options={SCOPE_PRESETS.map(({ id, label, description }) => ({ value: id, label, description }))}
        />
      </div>
      {movesMoney(values) ? <PolicyFields values={values} errors={tried ? errors : {}} onChange={change} /> : null}
      <Field label="Expires" className="max-w-48">
        <Select value={values.expiry} onValueChange={(expiry) => change({ expiry })} options={EXPIRIES} />
      </Field>
      {create.isError ? <ErrorState compact error={create.error} money="No key was made." /> : null}
      <ApiSnippet
        method="POST"
        path="/auth/api-keys"
        auth="bearer"
        body={toKeyBody(values.name.trim() === "" ? { ...values, name: "My key" } : values, shownAt)}
      />
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create key
        </Button>
      </div>
    </form>
  );
};
