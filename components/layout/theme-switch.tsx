"use client";

import { Monitor, Moon, Sun, SunMoon } from "lucide-react";
import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { DropdownMenu, MenuChoice } from "@/components/ui/dropdown-menu";

export const THEMES = [
  { value: "light", label: "Light", icon: <Sun aria-hidden /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden /> },
  { value: "system", label: "Same as system", icon: <Monitor aria-hidden /> },
] as const;

export const ThemeSwitch = (): ReactNode => {
  const { theme, setTheme } = useTheme();
  return (
    <DropdownMenu
      trigger={
        <Button variant="ghost" size="sm" aria-label="Theme" className="px-1.5">
          <SunMoon aria-hidden />
        </Button>
      }
    >
      <MenuChoice
        label="Theme"
        value={theme ?? "system"}
        onValueChange={setTheme}
        options={THEMES}
      />
    </DropdownMenu>
  );
};
