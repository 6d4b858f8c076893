"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Bookmark, BookmarkPlus, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from "@/components/ui/dropdown-menu";
import { Form, TextField } from "@/components/ui/form";
import { COMMON_VIEWS, useSavedViews } from "./saved-views";

const NAME_MAX = 40;
const viewForm = z.object({ name: z.string().trim().min(1, "Enter a name.").max(NAME_MAX) });

/** Filters under a name. A view is a link to this page, so it can be shared as well. */
export const ViewsMenu = (): ReactNode => {
  const router = useRouter();
  const { views, save, remove } = useSavedViews();
  const [saving, setSaving] = useState<string | null>(null);
  const open = (search: string): void => router.push(`/activity?${search}`);
  return (
    <>
      <DropdownMenu
        trigger={
          <Button>
            <Bookmark aria-hidden /> Views
          </Button>
        }
      >
        {COMMON_VIEWS.map(({ name, search }) => (
          <MenuItem key={name} onSelect={() => open(search)}>
            {name}
          </MenuItem>
        ))}
        {views.length === 0 ? null : (
          <>
            <MenuSeparator />
            <MenuLabel>Saved in this browser</MenuLabel>
          </>
        )}
        {views.map(({ name, search }) => (
          <MenuItem key={name} onSelect={() => open(search)}>
            {name}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem onSelect={() => setSaving(window.location.search.slice(1))}>
          <BookmarkPlus aria-hidden /> Save or remove views
        </MenuItem>
      </DropdownMenu>
      {saving === null ? null : (
        <Dialog
          open
          onOpenChange={() => setSaving(null)}
          title="Saved views"
          description="Kept in this browser. To share a view, send the address of the page."
        >
          <SaveForm
            onSave={(name) => {
              save({ name, search: saving });
              setSaving(null);
            }}
          />
          <ul className="mt-4 divide-y border-t">
            {views.map(({ name }) => (
              <li key={name} className="flex items-center justify-between gap-2 py-1">
                {name}
                <Button size="sm" variant="ghost" aria-label={`Remove the view ${name}`} onClick={() => remove(name)}>
                  <Trash2 aria-hidden />
                </Button>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
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
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <Button type="submit" variant="primary" disabled={!viewForm.safeParse(form.watch()).success}>
        Save view
      </Button>
    </Form>
  );
};
