"use client";

import { Bookmark, BookmarkPlus } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from "@/components/ui/dropdown-menu";
import { COMMON_VIEWS, useSavedViews } from "./saved-views";

// Its form needs zod, which the page itself does without.
const ViewsDialog = dynamic(() => import("./views-dialog").then((module) => module.ViewsDialog), { ssr: false });

/** Filters under a name. A view is a link to this page, so it can be shared as well. */
export const ViewsMenu = (): ReactNode => {
  const router = useRouter();
  const { views } = useSavedViews();
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
      {saving === null ? null : <ViewsDialog search={saving} onClose={() => setSaving(null)} />}
    </>
  );
};
