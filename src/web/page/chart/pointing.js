/** The state of a chart that the mouse, the keyboard or a press points at. */
import { useRef, useState } from 'preact/hooks';
import { neighbour } from './scene.js';

/** @import { Leaf } from './scene.js' */

/** @type {Readonly<Record<string, { x: number, y: number }>>} */
const directions = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };

/**
 * Tracks the state that the mouse, the keyboard or a press points at. The Tab key reaches only one state.
 * @param {readonly Leaf[]} leaves
 * @param {string} current
 */
export const usePointing = (leaves, current) => {
  const [hovered, setHovered] = useState('');
  const [focused, setFocused] = useState('');
  const [pinned, setPinned] = useState('');
  const [stop, setStop] = useState('');
  const root = useRef(/** @type {SVGSVGElement | null} */ (null));
  /** @param {Leaf} leaf */
  const on = (leaf) => ({
    onPointerEnter: (/** @type {PointerEvent} */ { pointerType }) => pointerType === 'mouse' && setHovered(leaf.id),
    onPointerLeave: () => setHovered(''),
    onFocus: (/** @type {FocusEvent} */ { currentTarget }) => {
      setStop(leaf.id);
      if (currentTarget instanceof Element && currentTarget.matches(':focus-visible')) setFocused(leaf.id);
    },
    onBlur: () => setFocused(''),
    onClick: () => setPinned(pinned === leaf.id ? '' : leaf.id),
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      const direction = directions[event.key];
      const isPress = event.key === 'Enter' || event.key === ' ';
      if (direction === undefined && !isPress && event.key !== 'Escape') return;
      event.preventDefault();
      if (isPress) setPinned(pinned === leaf.id ? '' : leaf.id);
      if (event.key === 'Escape') setPinned('');
      const next = direction === undefined ? undefined : neighbour(leaves, leaf, direction);
      if (next === undefined) return;
      /** @type {SVGGElement | null | undefined} */ (root.current?.querySelector(`[data-state="${next.id}"]`))?.focus();
    },
  });
  const known = leaves.some(({ id }) => id === stop) ? stop : leaves.some(({ id }) => id === current) ? current : (leaves[0]?.id ?? '');
  return { pointed: hovered || focused || pinned, pinned, stop: known, on, root };
};
