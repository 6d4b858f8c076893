"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Checkbox, Field, Input } from "@/components/ui/field";
import { createWebhookEndpoint, listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";
import type { NewEndpoint } from "./endpoint";
import { EventPicker } from "./event-picker";

interface CreateEndpointDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCreated: (endpoint: NewEndpoint) => void;
}

export const CreateEndpointDialog = ({ open, onOpenChange, onCreated }: CreateEndpointDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title="New endpoint" size="lg">
    <CreateEndpointForm onCreated={onCreated} onCancel={() => onOpenChange(false)} />
  </Dialog>
);

interface FormProps {
  readonly onCreated: (endpoint: NewEndpoint) => void;
  readonly onCancel: () => void;
}

const EXAMPLE_URL = "https://example.org/webhooks";

const CreateEndpointForm = ({ onCreated, onCancel }: FormProps): ReactNode => {
  const queryClient = useQueryClient();
  const create = useApiMutation(createWebhookEndpoint);
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<readonly string[]>(["*"]);
  const [thin, setThin] = useState(false);
  const [includePrivate, setIncludePrivate] = useState(false);
  const [tried, setTried] = useState(false);
  const errors = {
    url: url.trim() === "" ? "Enter the URL of your receiver." : undefined,
    events: events.length === 0 ? "Choose at least one event." : undefined,
  };
  const payload = thin ? ("thin" as const) : ("full" as const);
  const body = { url: url.trim(), events: [...events], payload, includePrivate };
  const submit = async (): Promise<void> => {
    setTried(true);
    if (errors.url !== undefined || errors.events !== undefined) return;
    const made = await create.mutateAsync({ body });
    onCreated(made);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listWebhookEndpoints) });
  };
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit().catch(() => undefined);
      }}
    >
      <Field
        label="URL"
        hint="It must be reachable from the internet, and answer with a 2xx status within 15 seconds."
        error={tried ? errors.url : undefined}
      >
        <Input
          value={url}
          type="url"
          placeholder={EXAMPLE_URL}
          maxLength={2000}
          onChange={(event) => setUrl(event.target.value)}
          autoFocus
        />
      </Field>
      <EventPicker value={events} onChange={setEvents} error={tried ? errors.events : undefined} />
      <Checkbox
        label="Thin payload: names the object, without its details"
        checked={thin}
        onChange={(event) => setThin(event.target.checked)}
      />
      <Checkbox
        label="Details of private movements: without this, their events show id, type and number alone"
        checked={includePrivate}
        onChange={(event) => setIncludePrivate(event.target.checked)}
      />
      {create.error === null ? null : <ErrorState compact error={create.error} money="No endpoint was made." />}
      <ApiSnippet
        method="POST"
        path="/webhook-endpoints"
        auth="bearer"
        body={{ ...body, url: body.url === "" ? EXAMPLE_URL : body.url }}
      />
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex justify-end gap-2 border-t bg-surface px-4 py-3">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending}>
          Create endpoint
        </Button>
      </div>
    </form>
  );
};
