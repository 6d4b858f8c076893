"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, TextField } from "@/components/ui/form";
import { useSavedViews, VIEW_NAME_MAX } from "./saved-views";

const viewForm = z.object({
  name: z.string().trim().min(1, "Enter a name.").max(VIEW_NAME_MAX),
});

interface ViewsDialogProps {
  /** The query string of the page, to be saved. */
  readonly search: string;
  readonly onClose: () => void;
}

export const ViewsDialog = ({ search, onClose }: ViewsDialogProps): ReactNode => {
  const { views, save, remove } = useSavedViews();
  return (
    <Dialog
      onClose={onClose}
      title="Saved views"
      description="Kept in this browser. To share a view, send the address of the page."
    >
      <SaveForm
        onSave={(name) => {
          save({ name, search });
          onClose();
        }}
      />
      <ul className="mt-4 divide-y border-t">
        {views.map(({ name }) => (
          <li key={name} className="flex items-center justify-between gap-2 py-1">
            {name}
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Remove the view ${name}`}
              onClick={() => remove(name)}
            >
              <Trash2 aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
};

const SaveForm = ({ onSave }: { readonly onSave: (name: string) => void }): ReactNode => {
  const form = useForm({ resolver: zodResolver(viewForm), defaultValues: { name: "" } });
  return (
    <Form form={form} onSubmit={({ name }) => onSave(name)} className="flex items-end gap-2">
      <TextField
        control={form.control}
        name="name"
        label="Name of the view"
        className="flex-1"
        input={{ maxLength: VIEW_NAME_MAX, autoFocus: true }}
      />
      <Button
        type="submit"
        variant="primary"
        disabled={!viewForm.safeParse(form.watch()).success}
      >
        Save view
      </Button>
    </Form>
  );
};
