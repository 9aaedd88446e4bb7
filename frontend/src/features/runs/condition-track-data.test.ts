import type { Conditions } from '../../api/types';
import { listedNames, tracksOf } from './condition-track-data';

function reading(seq: number, values: Conditions['values']): Conditions {
  return {
    seq,
    phase: 'during',
    at_ms: 1_000_000 + seq * 1000,
    values,
    raw: null,
  };
}

describe('conditions as tracks', () => {
  it('are one track per quantity with cores and sensors at their maximum', () => {
    const [frequency, temperature] = tracksOf([
      reading(0, {
        temperature_c: { 'cpu.0': 50, 'nvme.0': 61 },
        cpu_frequency_mhz: [3000, 3600],
      }),
    ]);
    expect(frequency).toMatchObject({
      label: 'CPU frequency',
      points: [{ seconds: 0, value: 3600 }],
    });
    expect(temperature).toMatchObject({
      label: 'Temperature',
      points: [{ seconds: 0, value: 61 }],
    });
    expect(frequency?.format(3600)).toBe('3.60 GHz');
    expect(temperature?.format(61)).toBe('61.0 °C');
  });

  it('keep the clusters of a phone apart: they differ in kind', () => {
    const [little, big, heat] = tracksOf([
      reading(0, {
        cpu_frequency_mhz: { 'cpu0-3': 1803, 'cpu4-7': 2850 },
        thermal_status: 2,
        battery_c: 33.5,
      }),
    ]);
    expect(little).toMatchObject({
      label: 'CPU frequency · cpu0-3',
      points: [{ seconds: 0, value: 1803 }],
    });
    expect(big?.format(2850)).toBe('2.85 GHz');
    expect(heat?.label).toBe('Battery temperature');
    expect(tracksOf([reading(0, { thermal_status: 2 })])[0]?.format(2)).toBe(
      'moderate',
    );
  });

  it('name what the device could not say, each once', () => {
    const readings = [
      reading(0, { unknown: ['thermal_status'] }),
      reading(1, { unknown: ['thermal_status'] }),
    ];
    expect(listedNames(readings, 'unknown')).toEqual(['thermal_status']);
    expect(listedNames(readings, 'events')).toEqual([]);
  });

  it('keep a number nobody knew of and leave out what is no number', () => {
    const tracks = tracksOf([
      reading(0, { fan_speed_percent: 40, boot_id: 'abc', nothing: null }),
    ]);
    expect(tracks.map(({ label }) => label)).toEqual(['fan speed']);
  });

  it('share a time axis that starts with the first reading', () => {
    const [load] = tracksOf([
      reading(3, { load_1m: 0.5 }),
      reading(9, { load_1m: 0.7 }),
    ]);
    expect(load?.points.map(({ seconds }) => seconds)).toEqual([0, 6]);
  });
});
