"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { usePolicies } from "@/components/features/policies/use-policies";
import { queryKeyOf, useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { listApiKeys, updateApiKey } from "@/lib/contracts/api-keys";
import type { BodyInput } from "@/lib/contracts/contract";
import type { ApiKey } from "./api-key";
import { KeyFields } from "./key-fields";
import { keyErrors, toKeyChange, valuesOfKey } from "./key-form";
import { presetOf } from "./presets";

interface EditKeyDialogProps {
  readonly apiKey: ApiKey | null;
  readonly onClose: () => void;
}

/** Changes a key; what lets it do more than before is approved in the same dialog. */
export const EditKeyDialog = ({ apiKey, onClose }: EditKeyDialogProps): ReactNode =>
  apiKey === null ? null : (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Edit “${apiKey.name}”`}
      description="It counts within a second. Letting the key do less counts at once; letting it do more needs your approval."
      size="lg"
    >
      <EditKeyForm apiKey={apiKey} onClose={onClose} />
    </Dialog>
  );

const keptOf = ({ scopes, expiresAt }: ApiKey) => ({
  expiry: expiresAt === null ? "As it is: never" : `As it is: ${expiresAt.slice(0, 10)}`,
  scopes: scopes.join(", "),
});

const EditKeyForm = ({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const projectCap = usePolicies().data?.dailyCapUsd;
  const [values, setValues] = useState(() => valuesOfKey(apiKey));
  const [shownAt] = useState(Date.now);
  const [tried, setTried] = useState(false);
  const change = useApprovable<BodyInput<typeof updateApiKey>>(async (body, approval) => {
    const options = { params: { id: apiKey.id }, body: { ...body, ...(approval ? { approval } : {}) } };
    await api.call(updateApiKey, options);
    toast.success(`The key “${values.name.trim()}” was changed.`);
    onClose();
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listApiKeys) });
  });
  const body = toKeyChange(apiKey, values, shownAt);
  // A limit of former times may be above the project's; only another one has to be within it.
  const errors = keyErrors(values, body?.dailyCapUsd === undefined ? undefined : projectCap);
  const submit = async (): Promise<void> => {
    setTried(true);
    const changed = toKeyChange(apiKey, values, Date.now());
    if (changed !== null && Object.keys(errors).length === 0) await change.start(changed);
  };
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  const { scopes, expiry } = keptOf(apiKey);
  const isPreset = presetOf(apiKey.scopes) !== undefined;
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <KeyFields
        values={values}
        errors={tried ? errors : {}}
        projectCap={projectCap}
        onChange={(part) => setValues((before) => ({ ...before, ...part }))}
        kept={{ expiry, ...(isPreset ? {} : { scopes }) }}
      />
      {change.error == null ? null : <ErrorState compact error={change.error} money="The key is as it was." />}
      {body === null ? null : (
        <ApiSnippet method="PATCH" path={`/auth/api-keys/${apiKey.id}`} auth="bearer" body={body} />
      )}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={body === null} loading={change.busy}>
          Save
        </Button>
      </div>
    </form>
  );
};
