"use client";

import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { NetworkHealth } from "@/components/features/system/readiness";
import { Wordmark } from "./logo";
import { NavList } from "./nav-list";
import { ProjectSwitcher } from "./project-switcher";

interface DrawerProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export const Drawer = ({ open, onOpenChange }: DrawerProps): ReactNode => (
  <Dialog.Root open={open} onOpenChange={onOpenChange}>
    <Dialog.Portal>
      <Dialog.Overlay className="fixed inset-0 z-40 animate-fade-in bg-overlay" />
      <Dialog.Content
        aria-describedby={undefined}
        className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] animate-slide-in flex-col gap-4 overflow-y-auto bg-surface p-4"
      >
        <Dialog.Title>
          <Wordmark />
        </Dialog.Title>
        <ProjectSwitcher />
        <NavList onNavigate={() => onOpenChange(false)} />
        <div className="mt-auto">
          <NetworkHealth />
        </div>
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
);
